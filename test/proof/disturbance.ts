import { seededRandom } from '../../src/testing/seeded-random.ts';

/**
 * What happens to one arrival:
 *
 * - `commit-reset`: it is processed, and the connection is reset before the answer.
 * - `503`: a gateway turns it away.
 * - `commit-503`: it is processed, and a gateway answers 503 in its place.
 * - `commit-hang`: it is processed, and no answer ever comes.
 * - `hang`: it is never processed, and no answer ever comes.
 * - `late`: it is processed after up to 20 s, whether anybody still waits or not.
 * - `twice`: a proxy delivers it twice at once, and passes on one of the two answers.
 */
export type DisturbanceKind =
  | 'none'
  | 'commit-reset'
  | '503'
  | 'commit-503'
  | 'commit-hang'
  | 'hang'
  | 'late'
  | 'twice';

export interface Disturbance {
  readonly kind: DisturbanceKind;
  /** How long a `late` one waits, in life. */
  readonly delayMs: number;
  /** Which of the two answers a `twice` passes on. */
  readonly passesSecond: boolean;
}

/** In percent of the arrivals: 45 together. */
export const sharesPercent: Readonly<Record<Exclude<DisturbanceKind, 'none'>, number>> = {
  'commit-reset': 10,
  '503': 8,
  'commit-503': 7,
  'commit-hang': 5,
  hang: 4,
  late: 5,
  twice: 6,
};

/** The longest that a `late` one waits, in life: twice the time limit of an attempt. */
const maxDelayMs = 20_000;

/** The same for the same order and arrival, whatever else goes on: so every contender meets it. */
export function disturbanceOf(seed: number, no: number, arrival: number): Disturbance {
  const random = seededRandom((seed * 1_000_003 + no * 101 + arrival) % 2 ** 32);
  let left = random() * 100;
  const delayMs = Math.round(random() * maxDelayMs);
  const passesSecond = random() < 0.5;
  for (const [kind, share] of Object.entries(sharesPercent)) {
    left -= share;
    if (left < 0) return { kind: kind as DisturbanceKind, delayMs, passesSecond };
  }
  return { kind: 'none', delayMs, passesSecond };
}
