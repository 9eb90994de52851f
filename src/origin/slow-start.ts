import { type Clock, type Random, between } from '../lib/clock.ts';
import type { Recovery } from './health/health.ts';
import { everything, type Group, groupsOf } from './wait-queue.ts';

/** After an outage the release takes this share of it, if answers are fast, within these bounds. */
const startShare = 0.4;
const leastStartMs = 1000;
const mostStartMs = 12_000;
/**
 * However slow the answers are, the release takes no longer than this. Plain retries give up after 7 s. After
 * an outage that they would have outlived, probed with gaps of half its length, no page waits for the fleet;
 * after a longer one the bound grows by so much for each second.
 */
const shortOutageMs = 10_000;
const boundFactor = 8;
const mostBoundMs = 90_000;
/** However few wait, they go no further apart than this, if answers are fast. */
const longestPlannedMs = 400;
/** A fast answer makes the gap shorter by this factor, down to this share of the planned one. */
const kept = 0.7;
const leastShare = 0.25;
/** After a slow answer the next goes after so many times what that one took. */
const latencyFactor = 10;
/** So far apart at most: as far as probes. */
const longestGapMs = 12_000;
/** What has gone within this time need not have its answer yet. */
const fastMs = 300;
/** Timers are late by up to this; the delay is not carried over to the next request. */
const lateMs = 100;

/** `recovery`: after an outage those who waited go one after the other, and answers set the pace. */
type Phase =
  | { readonly kind: 'off' }
  | {
      readonly kind: 'recovery';
      /** What was down: an endpoint, or everything. */
      readonly scope: string;
      readonly gapMs: number;
      readonly leastGapMs: number;
      /** When the last one went, and which share of the gap follows it. */
      readonly lastAt: number;
      readonly share: number;
      /** How many are left of those that waited at its beginning. By `endsAt` all have gone. */
      readonly left: number;
      readonly endsAt: number;
      /** Attempts that have gone and have no answer yet. */
      readonly unanswered: number;
    };

const off: Phase = { kind: 'off' };

/**
 * Lets what was paused go again, one after the other, as fast as the answers allow.
 *
 * Latency is the signal: failures come too late. None of the tabs that let go what they have paused sees
 * the others: so a slow answer counts at once, and each of ours that waits for its answer doubles the gap.
 */
export class SlowStart {
  readonly #clock: Clock;
  readonly #random: Random;
  #phase: Phase = off;
  #countedFrom = -Infinity;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Something that was down is up: those who wait for it go, the first after this time. */
  recover(recovery: Recovery, all: readonly Group[], firstMs: number): void {
    const { scope } = recovery;
    const groups = groupsOf(scope, all);
    const left = groups.reduce((sum, { waiters }) => sum + waiters.length, 0);
    if (left === 0) return this.stop();
    const now = this.#clock.now();
    const downMs = Math.min(recovery.downMs, now - this.#countedFrom);
    const longMs = Math.min(mostBoundMs, boundFactor * (downMs - shortOutageMs));
    const boundMs = Math.max(leastStartMs, longMs);
    const startMs = Math.max(leastStartMs, Math.min(mostStartMs, downMs * startShare));
    // All of them before the first pause ends.
    const patienceMs = Math.min(...groups.map(({ expiresAt }) => expiresAt)) - now;
    const gapMs = Math.min(longestPlannedMs, Math.min(startMs, boundMs, patienceMs) / left);
    const lastAt = now + firstMs;
    this.#phase = {
      kind: 'recovery',
      scope,
      gapMs,
      leastGapMs: leastShare * gapMs,
      lastAt,
      share: 0,
      left,
      endsAt: lastAt + boundMs,
      unanswered: 0,
    };
  }

  /** The device was offline until now: an outage before that may have been its own. */
  countFromNow(): void {
    this.#countedFrom = this.#clock.now();
  }

  /** It is under way, for this endpoint if one is given. */
  isUnderWay(endpoint?: string): boolean {
    const phase = this.#phase;
    if (phase.kind === 'off') return false;
    return endpoint === undefined || [everything, endpoint].includes(phase.scope);
  }

  stop(): void {
    this.#phase = off;
  }

  /** When the next one may go to this endpoint: `-Infinity` where none has to wait. */
  nextAt(endpoint: string): number {
    const phase = this.#phase;
    if (phase.kind === 'off' || !this.isUnderWay(endpoint)) return -Infinity;
    const { gapMs, lastAt, share, left, endsAt, unanswered } = phase;
    const overdue = unanswered - Math.floor(fastMs / gapMs);
    const paceMs = Math.min(longestGapMs, gapMs * 2 ** Math.max(0, overdue));
    const mostMs = (endsAt - lastAt) / Math.max(1, left);
    return Math.min(endsAt, lastAt + share * Math.min(paceMs, mostMs));
  }

  /** One of those who waited goes. @returns whether it goes in its turn: `finish` is to be called once. */
  advance(endpoint: string): boolean {
    const phase = this.#phase;
    if (phase.kind === 'off' || !this.isUnderWay(endpoint)) return false;
    const lastAt = Math.max(this.nextAt(endpoint), this.#clock.now() - lateMs);
    const share = between(this.#random, 0.5, 1.5);
    const { left, unanswered } = phase;
    this.#phase = { ...phase, lastAt, share, left: left - 1, unanswered: unanswered + 1 };
    return true;
  }

  /** One that has gone is answered, or is not waited for any more. */
  finish(): void {
    const phase = this.#phase;
    if (phase.kind === 'recovery')
      this.#phase = { ...phase, unanswered: Math.max(0, phase.unanswered - 1) };
  }

  /** An answer came after so long, as fast as usual or not; or none did. */
  observe(isFast: boolean, latencyMs: number): void {
    const phase = this.#phase;
    if (phase.kind === 'off') return;
    const gapMs = isFast
      ? Math.max(phase.leastGapMs, kept * phase.gapMs)
      : Math.max(phase.gapMs, Math.min(longestGapMs, latencyFactor * latencyMs));
    this.#phase = { ...phase, gapMs };
  }
}
