import type { Lane } from './recording.ts';

/** How many lanes there is room for; older ones leave the picture. */
export const laneCount = 4;

/** What the picture's time axis spans. */
export interface Scale {
  /** Where it begins and ends, in epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  /** Where it is labelled, in seconds since the first lane. */
  readonly ticks: readonly number[];
}

/** The lengths that an axis may have, and the step of its labels, in seconds. */
const lengths: readonly (readonly [length: number, step: number])[] = [
  [4, 1],
  [6, 1],
  [8, 2],
  [10, 2],
  [12, 2],
  [16, 4],
  [20, 5],
  [30, 5],
  [60, 10],
  [120, 20],
  [300, 60],
  [600, 120],
];

/** The latest time that a lane shows, waits that are planned included. */
function endOf({ from, to, retryAt, requests, wait }: Lane): number {
  const ends = requests.map((request) => request.to ?? request.from);
  return Math.max(from, to ?? retryAt ?? from, ...ends, wait ? (wait.to ?? wait.plannedTo) : from);
}

/** The axis for all lanes and for the present, with room for a label after the last wait. */
export function scaleFor(lanes: readonly Lane[], now: number): Scale {
  const start = lanes[0]?.from ?? now;
  const shown = lanes.slice(-laneCount);
  const offset = Math.floor(((shown[0]?.from ?? start) - start) / 1000);
  const from = start + offset * 1000;
  const end = Math.max(now, ...shown.map(endOf));
  const neededSeconds = ((end - from) / 1000) * 1.25;
  const fitting = lengths.find(([length]) => length >= neededSeconds);
  const [length, step] = fitting ?? [Math.ceil(neededSeconds / 300) * 300, 300];
  const ticks: number[] = [];
  for (let tick = Math.ceil(offset / step) * step; tick <= offset + length; tick += step) {
    ticks.push(tick);
  }
  return { from, to: from + length * 1000, ticks };
}
