/** The share of good ones that a second must reach. */
const goodShare = 0.99;

/** The first second from which on every second is good; null when the last one is not. */
export function firstLasting<T>(
  items: readonly T[],
  secondOf: (item: T) => number,
  seconds: number,
  isGood: (item: T) => boolean,
): number | null {
  const all = Array.from<number>({ length: seconds }).fill(0);
  const good = [...all];
  for (const item of items) {
    const second = secondOf(item);
    all[second] = (all[second] ?? 0) + 1;
    if (isGood(item)) good[second] = (good[second] ?? 0) + 1;
  }
  const lastBad = all.findLastIndex((count, second) => (good[second] ?? 0) < goodShare * count);
  return lastBad === seconds - 1 ? null : lastBad + 1;
}
