/** Where a panel's plot is, and what its scales are. */
export interface Plot {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** The value at the top. */
  readonly max: number;
}

const short = (value: number): string => `${Math.round(value * 100) / 100}`;

/** The outline of a series as steps, from the ground up and back to it. */
export function outline(series: readonly number[], { x, y, width, height, max }: Plot): string {
  const step = width / series.length;
  const bottom = y + height;
  let path = `M${short(x)} ${short(bottom)}`;
  series.forEach((value, index) => {
    path += `V${short(bottom - (Math.min(value, max) / max) * height)}H${short(x + (index + 1) * step)}`;
  });
  return `${path}V${short(bottom)}Z`;
}
