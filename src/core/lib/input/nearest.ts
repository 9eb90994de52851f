/** Where a name known from other libraries belongs: `{ retries: 'policy: { maxRetries }' }`. */
export type Elsewhere = Readonly<Record<string, string>>;

/**
 * Guesses what a wrong name was meant to be: one of these names, or an entry of `elsewhere`. `isStrict`: the
 * name may be a valid option of another library.
 */
export function findMeant(
  name: string,
  names: readonly string[],
  elsewhere: Elsewhere,
  isStrict: boolean,
): string | undefined {
  if (Object.keys(elsewhere).includes(name)) return elsewhere[name];
  const own = nearest(name, names, isStrict);
  const other = nearest(name, Object.keys(elsewhere), isStrict);
  if (other !== undefined && (own === undefined || other.distance < own.distance))
    return elsewhere[other.name];
  return own?.name;
}

interface Near {
  readonly name: string;
  readonly distance: number;
}

/** The name most similar to this one, or containing it, ignoring case. */
function nearest(wrong: string, names: readonly string[], isStrict: boolean): Near | undefined {
  const from = wrong.toLowerCase();
  const near = names.map((name): Near => {
    const to = name.toLowerCase();
    const isPart = !isStrict && isMostOf(to, from);
    const whole = distanceOf(to, from);
    // Omitting letters at an end is a smaller mistake than others.
    return { name, distance: isPart ? Math.min(whole, 1 + whole / 3) : whole };
  });
  return near
    .filter(
      ({ name, distance }) =>
        distance <= Math.max(2, (isStrict ? 0.3 : 0.45) * Math.max(name.length, wrong.length)),
    )
    .sort((one, other) => one.distance - other.distance)[0];
}

/** Whether one contains the other, and is at least half as long. */
function isMostOf(one: string, other: string): boolean {
  const [short = '', long = ''] = [one, other].sort((a, b) => a.length - b.length);
  return long.includes(short) && short.length * 2 >= long.length;
}

/** The number of letters to change, add or remove to turn one word into the other (Levenshtein). */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, letter] of Array.from(from).entries()) {
    const next = [at + 1];
    for (const [index, other] of Array.from(to).entries()) {
      const [left = 0, above = 0, both = 0] = [next[index], row[index + 1], row[index]];
      next.push(Math.min(left + 1, above + 1, both + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
