import type { Span } from './storm.ts';

/** Where the plot of a chart is, in CSS pixels, and what its axes reach to. */
export interface Plot {
  readonly width: number;
  readonly height: number;
  readonly span: Span;
  /** The value at the top. */
  readonly max: number;
}

const round = (value: number): number => Math.round(value * 10) / 10;

export const xAt = ({ width, span: { fromS, toS } }: Plot, atS: number): number =>
  round(((atS - fromS) / (toS - fromS)) * width);

export const yAt = ({ height, max }: Plot, value: number): number =>
  round(height - (Math.min(value, max) / max) * height);

/** What happened in each second, as steps from the ground up and back to it. */
export function stepArea(perSecond: readonly number[], plot: Plot): string {
  const { fromS, toS } = plot.span;
  const shown = perSecond.slice(fromS, toS);
  const steps = shown.map((value, index) => `V${yAt(plot, value)}H${xAt(plot, fromS + index + 1)}`);
  return `M0 ${plot.height}${steps.join('')}V${plot.height}Z`;
}

/** What lies between two values, each known at the end of a second. */
export function band(lower: readonly number[], upper: readonly number[], plot: Plot): string {
  const { outageS, toS } = plot.span;
  const seconds = Array.from(
    { length: Math.max(0, Math.min(upper.length, toS) - outageS) },
    (_, index) => outageS + index,
  );
  const corner = (values: readonly number[]) => (second: number) =>
    `${xAt(plot, second + 1)} ${yAt(plot, values[second] ?? 0)}`;
  const there = seconds.map(corner(upper));
  const back = seconds.map(corner(lower)).toReversed();
  const start = `${xAt(plot, outageS)} ${plot.height}`;
  return `M${[start, ...there, ...back].join('L')}Z`;
}

/** Where a band is thick enough for its name: the middle of where it is nearly as thick as anywhere. */
export function namePlace(
  lower: readonly number[],
  upper: readonly number[],
  plot: Plot,
): { readonly atS: number; readonly x: number; readonly y: number } | undefined {
  const { outageS, toS } = plot.span;
  const thickness = upper
    .slice(0, toS)
    .map((value, second) => (second < outageS ? 0 : value - (lower[second] ?? 0)));
  const most = Math.max(0, ...thickness);
  if ((most / plot.max) * plot.height < 20) return undefined;
  const thick = thickness.flatMap((value, second) => (value >= 0.8 * most ? [second] : []));
  const second = thick[Math.floor(thick.length / 2)] ?? outageS;
  const middle = ((lower[second] ?? 0) + (upper[second] ?? 0)) / 2;
  return { atS: second + 1, x: xAt(plot, second + 1), y: yAt(plot, middle) };
}

/** A round number that is not below the value. */
export function ceilNicely(value: number): number {
  const size = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  const step = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * size >= value) ?? 10;
  return step * size;
}
