import type { Truth, Tutorial } from './tutorial.ts';

/** What was so at one time, until the next. */
export interface Moment extends Truth {
  /** Milliseconds since the trouble began, as all times here. */
  readonly atMs: number;
  readonly isFetching: boolean;
  readonly isPaused: boolean;
}

/** What one component shows in one trouble. */
export interface Cell {
  /** What was on the screen, from when on. */
  readonly screens: readonly (readonly [atMs: number, text: string])[];
  /** When all was seen that the user wants to see. */
  readonly contentMs: number | undefined;
  /** When a failure was shown first. */
  readonly failedMs: number | undefined;
  /** When the awaited promise was settled. */
  readonly awaitedMs: number | undefined;
  /** The error that has taken the whole page down. */
  readonly thrown: string | undefined;
  /** When the page was blank first. */
  readonly blankMs: number | undefined;
  /** When it said first what was not true. */
  readonly untrueMs: number | undefined;
  readonly requests: number;
  /** How long it was watched. */
  readonly endMs: number;
  /** How long a query was `fetching`, and `paused`. */
  readonly fetchingMs: number;
  readonly pausedMs: number;
}

/** Only the last of what was shown at one time was seen. */
export function addMoment(moments: Moment[], moment: Moment): void {
  if (moments.at(-1)?.atMs === moment.atMs) moments.pop();
  moments.push(moment);
}

/** What all moments come to. */
export function cellOf(
  moments: readonly Moment[],
  { content = ['list 2'], awaits, claims = {} }: Tutorial,
  rest: Pick<Cell, 'thrown' | 'requests' | 'endMs'>,
): Cell {
  const first = (isIt: (moment: Moment) => boolean, afterMs = 0): number | undefined =>
    moments.find((moment) => moment.atMs >= afterMs && isIt(moment))?.atMs;
  const lasting = (isIt: (moment: Moment) => boolean): number =>
    moments.reduce((sum, moment, index) => {
      const toMs = moments[index + 1]?.atMs ?? rest.endMs;
      return isIt(moment) ? sum + toMs - moment.atMs : sum;
    }, 0);
  const seen = content.map((word) => first(({ text }) => text.includes(word)) ?? Infinity);
  const contentMs = Math.max(...seen);
  const awaited = awaits && first(({ text }) => text.includes(awaits));
  return {
    ...rest,
    screens: moments
      .filter(({ text }, index) => text !== moments[index - 1]?.text)
      .map(({ atMs, text }) => [atMs, text]),
    contentMs: contentMs < Infinity ? contentMs : undefined,
    failedMs: first(({ text }) => text.includes('Failed')),
    awaitedMs:
      typeof awaited === 'number'
        ? first(({ text }) => !text.includes(awaits ?? ''), awaited)
        : undefined,
    blankMs: first(({ text }) => text === ''),
    untrueMs: first((moment) =>
      Object.entries(claims).some(
        ([word, isTrue]) => moment.text.includes(word) && !isTrue(moment),
      ),
    ),
    fetchingMs: lasting(({ isFetching }) => isFetching),
    pausedMs: lasting(({ isPaused }) => isPaused),
  };
}
