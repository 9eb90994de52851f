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
/** A failure that was seen for so long is probed no more: nothing of ours repeats for ever. */
const longestSeenMs = 12 * 3_600_000;
/** After this time without an answer to a probe, the next one may be sent. */
const longestProbeMs = 15_000;
/** The last probe is sent this long before a wait expires. More of them would keep a recovering server down. */
export const lastChanceMs = 3000;
/** No last probe is sent if another one was sent this shortly before the expiry. */
const lastChanceAfterMs = 8000;
/** The gap after a probe that showed nothing. */
const leastGapMs = 2000;

/** When the next probe is due. */
interface Plan {
  readonly foregroundAt: number;
  readonly backgroundAt: number;
  readonly idleAt: number;
}

/** Decides when something that is down is probed. */
export class ProbeSchedule {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Undefined while it is up, and while a probe is in flight. */
  #plan: Plan | undefined;
  /** The probe in flight. */
  #probe: object | undefined;
  /** The time that the user was shown for the next probe, which is sent no later; `Infinity` without one. */
  promisedAt: number = Infinity;
  #count = 0;
  #beganAt = 0;
  /** When the last probe was sent or, before the first, the outage began. */
  startedAt = 0;
  #hastenedAt = -Infinity;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Starts an outage. `isEarly`: a fast retry has found it, before the usual retry. */
  begin(isEarly: boolean): void {
    const now = this.#clock.now();
    this.#restart(now);
    this.startedAt = now;
    this.#planFrom(now, isEarly ? now + between(this.#random, ...earlyGap) : undefined);
  }

  /** Ends the outage. */
  close(): void {
    this.#plan = this.#probe = undefined;
    this.promisedAt = Infinity;
  }

  /** When the next probe is due. `expiresAt`: when the first wait of a user expires; a last probe is sent before. */
  nextAt(isForeground: boolean, expiresAt: number): number {
    const { startedAt } = this;
    const isLate = startedAt > expiresAt - lastChanceAfterMs;
    const lastChanceAt = isLate ? Infinity : expiresAt - lastChanceMs;
    if (this.#probe)
      return Math.min(startedAt + longestProbeMs, isForeground ? lastChanceAt : Infinity);
    const plan = this.#plan;
    if (!plan) return Infinity;
    const at = isForeground ? Math.min(plan.foregroundAt, lastChanceAt) : plan.backgroundAt;
    return Math.min(this.promisedAt, at);
  }

  /** The same while no request waits, and a user sees a failure. */
  idleAt(): number {
    return this.#probe ? this.startedAt + longestProbeMs : (this.#plan?.idleAt ?? Infinity);
  }

  /** Makes the next probe due no later than this. */
  promise(at: number): void {
    if (this.#plan) this.promisedAt = Math.min(this.promisedAt, at);
  }

  /** Whether a probe is in flight, and has not exceeded `longestProbeMs`. */
  isProbing(): boolean {
    return !!this.#probe && this.#clock.now() - this.startedAt < longestProbeMs;
  }

  /**
   * Records that a probe is sent.
   *
   * @returns the function to call if it fails or shows nothing. `isUnused`: nothing was sent, so the next probe is
   * due at once.
   */
  start(): (hasFailed: boolean, isUnused?: boolean) => void {
    const startedAt = this.#clock.now();
    const own = (this.#probe = {});
    this.#plan = undefined;
    this.promisedAt = Infinity;
    this.startedAt = startedAt;
    return (hasFailed, isUnused) => {
      // A later probe or another outage has replaced it.
      if (this.#probe !== own) return;
      this.#planFrom(startedAt, hasFailed ? undefined : startedAt + leastGapMs);
      if (isUnused) this.promise(this.#clock.now());
    };
  }

  /**
   * Makes a probe due at once, even if one is in flight, and starts the gaps anew: the cause may be gone. Keeps the
   * shortest gap to the last probe, because a user may press many times. After news of the network (`isCertain`),
   * keeps it to the last such news only.
   */
  hasten(isCertain = false): void {
    if (!this.#plan && !this.#probe) return;
    const now = this.#clock.now();
    const lastAt = isCertain ? this.#hastenedAt : Math.max(this.startedAt, this.#hastenedAt);
    if (isCertain) this.#hastenedAt = now;
    this.#restart(now);
    const at = Math.min(Math.max(now, lastAt + shortestGapMs), this.promisedAt);
    this.#probe = undefined;
    this.#plan = { foregroundAt: at, backgroundAt: at, idleAt: at };
    this.promisedAt = at;
  }

  #restart(now: number): void {
    this.#count = 0;
    this.#beganAt = now;
  }

  #planFrom(fromMs: number, foregroundAt = fromMs + this.#gapMs()): void {
    const now = this.#clock.now();
    const [leastMs, mostMs] = backgroundGaps[this.#count++] ?? lastBackgroundGap;
    const share = this.#random();
    const outageMs = now - this.#beganAt;
    const idleMs = Math.min(longestIdleMs, Math.max(shortestIdleMs, outageMs));
    this.#probe = undefined;
    this.#plan = {
      foregroundAt: Math.max(now, foregroundAt),
      backgroundAt: now + leastMs + share * (mostMs - leastMs),
      idleAt: outageMs < longestSeenMs ? now + idleMs * (0.75 + share / 2) : Infinity,
    };
    this.promisedAt = Infinity;
  }

  #gapMs(): number {
    const outageMs = this.#clock.now() - this.#beganAt;
    const gapMs = Math.min(longestGapMs, Math.max(shortestGapMs, outageShare * outageMs));
    return gapMs * between(this.#random, 0.75, 1.25);
  }
}
