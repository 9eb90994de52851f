import { type Clock, type Random, between } from '../../lib/clock.ts';

/** While a user waits, the gap between the starts of two probes is this share of the outage so far. */
const outageShare = 0.5;
export const shortestGapMs = 1200;
const longestGapMs = 12_000;
/** The gap between a failed fast retry and the first probe: a short outage ends no later than with usual retries. */
const earlyGap = [400, 1200] as const;
/** Without a user, the gaps between the end of one probe and the start of the next: least and most. */
const backgroundGaps: readonly (readonly [number, number])[] = [
  [5000, 10_000],
  [10_000, 20_000],
  [15_000, 30_000],
];
const lastBackgroundGap = [20_000, 40_000] as const;
/** While no request waits and a user sees a failure, the gap is the length of the outage, within these bounds. */
const shortestIdleMs = 5000;
const longestIdleMs = 30_000;
/** After this time without an answer to a probe, the next one may be sent. */
const longestProbeMs = 15_000;
/** An outage that begins this soon after another one continues it. */
const sameMs = 10_000;
/** The last probe is sent this long before a wait expires. More of them would keep a recovering server down. */
export const lastChanceMs = 3000;
/** No last probe is sent if another one was sent this shortly before the expiry. */
const lastChanceAfterMs = 8000;
/** The gap after a probe that showed nothing. */
const leastGapMs = 2000;

type State =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'waiting';
      readonly foregroundAt: number;
      readonly backgroundAt: number;
      readonly idleAt: number;
      /** The time that the user was shown for the next probe, which is sent no later. */
      readonly promisedAt: number;
    }
  | { readonly kind: 'probing' };

const idle: State = { kind: 'idle' };

/** Decides when something that is down is probed. */
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

  /** Starts an outage, or continues a recent one. `isEarly`: a fast retry has found it, before the usual retry. */
  begin(isEarly: boolean): void {
    const now = this.#clock.now();
    if (now - this.#closedAt > sameMs) this.#restart(now);
    this.#startedAt = now;
    this.#plan(now, isEarly ? now + between(this.#random, ...earlyGap) : undefined);
  }

  /** Ends the outage. */
  close(): void {
    this.#state = idle;
    this.#closedAt = this.#clock.now();
  }

  /** When the next probe is due. `expiresAt`: when the first wait of a user expires; a last probe is sent before. */
  nextAt(isForeground: boolean, expiresAt: number): number {
    const state = this.#state;
    const startedAt = this.#startedAt;
    const isLate = startedAt > expiresAt - lastChanceAfterMs;
    const lastChanceAt = isLate ? Infinity : expiresAt - lastChanceMs;
    if (state.kind === 'probing')
      return Math.min(startedAt + longestProbeMs, isForeground ? lastChanceAt : Infinity);
    if (state.kind === 'idle') return Infinity;
    const at = isForeground ? Math.min(state.foregroundAt, lastChanceAt) : state.backgroundAt;
    return Math.min(state.promisedAt, at);
  }

  /** The same while no request waits, and a user sees a failure. */
  idleAt(): number {
    const state = this.#state;
    if (state.kind === 'probing') return this.#startedAt + longestProbeMs;
    return state.kind === 'waiting' ? state.idleAt : Infinity;
  }

  /** The time that the user was shown for the next probe; `Infinity` without one. */
  promisedAt(): number {
    return this.#state.kind === 'waiting' ? this.#state.promisedAt : Infinity;
  }

  /** Makes the next probe due no later than this. */
  promise(at: number): void {
    const state = this.#state;
    if (state.kind === 'waiting' && at < state.promisedAt)
      this.#state = { ...state, promisedAt: at };
  }

  /** Whether a probe is in flight, and has not exceeded `longestProbeMs`. */
  isProbing(): boolean {
    return this.#state.kind === 'probing' && this.#clock.now() - this.#startedAt < longestProbeMs;
  }

  /** When the last probe was sent. */
  startedAt(): number {
    return this.#startedAt;
  }

  /**
   * Records that a probe is sent.
   *
   * @returns the function to call if it fails or shows nothing. `isUnused`: nothing was sent, so the next probe is
   * due at once.
   */
  start(): (hasFailed: boolean, isUnused?: boolean) => void {
    const own: State = { kind: 'probing' };
    const startedAt = this.#clock.now();
    this.#state = own;
    this.#startedAt = startedAt;
    return (hasFailed, isUnused) => {
      // A later probe or another outage has replaced it.
      if (this.#state !== own) return;
      this.#plan(startedAt, hasFailed ? undefined : startedAt + leastGapMs);
      if (isUnused) this.promise(this.#clock.now());
    };
  }

  /**
   * Makes a probe due at once, even if one is in flight, and starts the gaps anew: the cause may be gone. Keeps the
   * shortest gap to the last probe, because a user may press many times. After news of the network (`isCertain`),
   * keeps it to the last such news only.
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
