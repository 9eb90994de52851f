/** The lines in which two texts differ, counted from 1. */
export interface LineDiff {
  readonly removed: ReadonlySet<number>;
  readonly added: ReadonlySet<number>;
}

/** By the longest common subsequence of their lines. */
export function diffLines(before: string, after: string): LineDiff {
  const [a, b] = [before.trimEnd().split('\n'), after.trimEnd().split('\n')];
  // lengths[i][j]: how many lines a from i and b from j have in common.
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const common = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i];
      if (!row) continue;
      row[j] =
        a[i] === b[j] ? common(i + 1, j + 1) + 1 : Math.max(common(i + 1, j), common(i, j + 1));
    }
  }
  const removed = new Set<number>();
  const added = new Set<number>();
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && common(i + 1, j) >= common(i, j + 1))) {
      removed.add((i += 1));
    } else {
      added.add((j += 1));
    }
  }
  return { removed, added };
}
