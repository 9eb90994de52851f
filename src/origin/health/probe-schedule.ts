import { type Clock, type Random, between } from '../../lib/clock.ts';

/** While a user waits, from the start of one probe to that of the next: a share of the outage so far. */
const outageShare = 0.5;
export const shortestGapMs = 1200;
const longestGapMs = 12_000;
/** From a fast retry to the first probe, so that a short outage ends no later than without the fast retry. */
const earlyGap = [400, 1200] as const;
/** While nobody does, from the end of one probe to the next: at least, and at most. */
const backgroundGaps: readonly (readonly [number, number])[] = [
  [5000, 10_000],
  [10_000, 20_000],
  [15_000, 30_000],
];
const lastBackgroundGap = [20_000, 40_000] as const;
/** While nothing waits, and a user sees what has failed: as long as the outage so far. */
const shortestIdleMs = 5000;
const longestIdleMs = 30_000;
/** A probe that has no answer after this time is not waited for any longer: the next one may go. */
const longestProbeMs = 15_000;
/** An outage that begins so soon after another one is the same. */
const sameMs = 10_000;
/** The last probe before a wait ends. More of them keep a server down that is back: some wait always ends. */
export const lastChanceMs = 3000;
/** There is none where a probe has gone so shortly before the end. */
const lastChanceAfterMs = 8000;
/** The next one after a probe that showed nothing. */
const leastGapMs = 2000;

type State =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'waiting';
      readonly foregroundAt: number;
      readonly backgroundAt: number;
      readonly idleAt: number;
      /** The time of the next probe that the user was shown: the probe comes no later. */
      readonly promisedAt: number;
    }
  | { readonly kind: 'probing' };

const idle: State = { kind: 'idle' };

/** When something that is down is probed. */
export class ProbeSchedule {
  readonly #clock: Clock;
  readonly #random: Random;
  #state: State = idle;
  #count = 0;
  #beganAt = 0;
  #closedAt = -Infinity;
  #startedAt = -Infinity;
  #hastenedAt = -Infinity;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * An outage begins. Soon after another one, it goes on where that one ended. `isEarly`: a fast retry has found
   * it, at a time when a usual one would still be waited for.
   */
  begin(isEarly: boolean): void {
    const now = this.#clock.now();
    if (now - this.#closedAt > sameMs) this.#restart(now);
    this.#startedAt = now;
    this.#plan(now, isEarly ? now + between(this.#random, ...earlyGap) : undefined);
  }

  /** It is up again. */
  close(): void {
    this.#state = idle;
    this.#closedAt = this.#clock.now();
  }

  /** When the next probe may go. `expiresAt`: when the first wait of a user ends; a last probe goes shortly before. */
  nextAt(isForeground: boolean, expiresAt: number): number {
    const state = this.#state;
    const startedAt = this.#startedAt;
    const isLate = startedAt > expiresAt - lastChanceAfterMs;
    const lastChanceAt = isLate ? Infinity : expiresAt - lastChanceMs;
    if (state.kind === 'probing')
      return Math.min(startedAt + longestProbeMs, isForeground ? lastChanceAt : Infinity);
    if (state.kind === 'idle') return Infinity;
    const at = isForeground ? Math.min(state.foregroundAt, lastChanceAt) : state.backgroundAt;
    this.promise(at);
    return Math.min(state.promisedAt, at);
  }

  /** The same where no attempt waits, and a user sees what has failed. */
  idleAt(): number {
    const state = this.#state;
    if (state.kind === 'probing') return this.#startedAt + longestProbeMs;
    return state.kind === 'waiting' ? state.idleAt : Infinity;
  }

  /** The time of the next probe that the user was shown; `Infinity` if none was. */
  promisedAt(): number {
    return this.#state.kind === 'waiting' ? this.#state.promisedAt : Infinity;
  }

  /** The next one comes no later. */
  promise(at: number): void {
    const state = this.#state;
    if (state.kind === 'waiting' && at < state.promisedAt)
      this.#state = { ...state, promisedAt: at };
  }

  /** A probe is under way, and its answer is still waited for. */
  isProbing(): boolean {
    return this.#state.kind === 'probing' && this.#clock.now() - this.#startedAt < longestProbeMs;
  }

  /** When the last one began. */
  startedAt(): number {
    return this.#startedAt;
  }

  /**
   * A probe goes. @returns what is to be called when it has failed, or was called off and showed nothing;
   * `isUnused`: nothing was sent, so that the next one goes at once.
   */
  start(): (hasFailed: boolean, isUnused?: boolean) => void {
    const own: State = { kind: 'probing' };
    const startedAt = this.#clock.now();
    this.#state = own;
    this.#startedAt = startedAt;
    return (hasFailed, isUnused) => {
      // A later probe, or another outage, has taken its place.
      if (this.#state !== own) return;
      this.#plan(startedAt, hasFailed ? undefined : startedAt + leastGapMs);
      if (isUnused) this.promise(this.#clock.now());
    };
  }

  /**
   * Its cause may have gone: it is probed at once, also beside a probe that is under way, and what follows is as
   * at the beginning of an outage. A user who asks again is no more than that, so a gap is kept to the last
   * probe; after word of the network (`isCertain`), to the last such word.
   */
  hasten(isCertain = false): void {
    if (this.#state.kind === 'idle') return;
    const now = this.#clock.now();
    const lastAt = isCertain ? this.#hastenedAt : Math.max(this.#startedAt, this.#hastenedAt);
    if (isCertain) this.#hastenedAt = now;
    this.#restart(now);
    const at = Math.min(Math.max(now, lastAt + shortestGapMs), this.promisedAt());
    this.#state = {
      kind: 'waiting',
      foregroundAt: at,
      backgroundAt: at,
      idleAt: at,
      promisedAt: at,
    };
  }

  #restart(now: number): void {
    this.#count = 0;
    this.#beganAt = now;
  }

  #plan(fromMs: number, foregroundAt = fromMs + this.#gapMs()): void {
    const now = this.#clock.now();
    const [leastMs, mostMs] = backgroundGaps[this.#count++] ?? lastBackgroundGap;
    const share = this.#random();
    const idleMs = Math.min(longestIdleMs, Math.max(shortestIdleMs, now - this.#beganAt));
    this.#state = {
      kind: 'waiting',
      foregroundAt: Math.max(now, foregroundAt),
      backgroundAt: now + leastMs + share * (mostMs - leastMs),
      idleAt: now + idleMs * (0.75 + share / 2),
      promisedAt: Infinity,
    };
  }

  #gapMs(): number {
    const outageMs = this.#clock.now() - this.#beganAt;
    const gapMs = Math.min(longestGapMs, Math.max(shortestGapMs, outageShare * outageMs));
    return gapMs * between(this.#random, 0.75, 1.25);
  }
}
