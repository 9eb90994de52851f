import { type Clock, type Random, between } from '../lib/clock.ts';
import type { Recovery } from './health/health.ts';
import { everything, type Group, groupsOf } from './wait-queue.ts';

/** With fast answers, slow start takes this share of the outage, within these bounds. */
const startShare = 0.4;
const leastStartMs = 1000;
const mostStartMs = 12_000;
/**
 * The bound on slow start, however slow the answers are: `boundFactor` times the part of the outage beyond
 * `shortOutageMs`, up to `mostBoundMs`. Plain retries give up after 7 s. After an outage that they would have
 * outlived, a page must not wait for the sake of the fleet.
 */
const shortOutageMs = 10_000;
const boundFactor = 8;
const mostBoundMs = 90_000;
/** With fast answers, the gap between two attempts is at most this, however few wait. */
const longestPlannedMs = 400;
/** A fast answer multiplies the gap by this factor, down to this share of the planned gap. */
const kept = 0.7;
const leastShare = 0.25;
/** After a slow answer the gap is this many times its latency. */
const latencyFactor = 10;
/** The longest gap, as between probes. */
const longestGapMs = 12_000;
/** An attempt without an answer does not count as slow before this time. */
const fastMs = 300;
/** Timers are late by up to this; the delay is not carried over to the next request. */
const lateMs = 100;

/**
 * Sends the paused attempts after a recovery one after the other, as fast as the answers allow.
 *
 * The signal is latency, because failures come too late. A tab does not see the load from other clients, so it
 * reacts to the first slow answer, and each overdue answer doubles the gap.
 */
export class SlowStart {
  readonly #clock: Clock;
  readonly #random: Random;
  /** The endpoint that recovered, or everything; undefined unless a slow start is under way. */
  #scope: string | undefined;
  #gapMs = 0;
  #leastGapMs = 0;
  /** When the last attempt was sent, and the share of the gap before the next. */
  #lastAt = 0;
  #share = 0;
  /** How many of the attempts that waited at its start are left. All are sent by `#endsAt`. */
  #left = 0;
  #endsAt = 0;
  /** The number of attempts sent and not yet answered. */
  #unanswered = 0;
  #countedFrom = -Infinity;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Starts after a recovery. The first attempt is sent after `firstMs`. */
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
    // All attempts are sent before the first of them expires.
    const patienceMs = Math.min(...groups.map(({ expiresAt }) => expiresAt)) - now;
    this.#gapMs = Math.min(longestPlannedMs, Math.min(startMs, boundMs, patienceMs) / left);
    this.#leastGapMs = leastShare * this.#gapMs;
    this.#scope = scope;
    this.#lastAt = now + firstMs;
    this.#share = 0;
    this.#left = left;
    this.#endsAt = this.#lastAt + boundMs;
    this.#unanswered = 0;
  }

  /** Measures an outage from now on only: before, the device itself was offline. */
  countFromNow(): void {
    this.#countedFrom = this.#clock.now();
  }

  /** Whether it is under way, for this endpoint or, without one, at all. */
  isUnderWay(endpoint?: string): boolean {
    const scope = this.#scope;
    if (scope === undefined) return false;
    return endpoint === undefined || scope === everything || scope === endpoint;
  }

  stop(): void {
    this.#scope = undefined;
  }

  /** When the next attempt may be sent to this endpoint; `-Infinity` if none has to wait. */
  nextAt(endpoint: string): number {
    if (!this.isUnderWay(endpoint)) return -Infinity;
    const overdue = this.#unanswered - Math.floor(fastMs / this.#gapMs);
    const paceMs = Math.min(longestGapMs, this.#gapMs * 2 ** Math.max(0, overdue));
    const mostMs = (this.#endsAt - this.#lastAt) / Math.max(1, this.#left);
    return Math.min(this.#endsAt, this.#lastAt + this.#share * Math.min(paceMs, mostMs));
  }

  /** Counts an attempt that is sent. @returns whether it is part of the slow start: then call `finish` once. */
  advance(endpoint: string): boolean {
    if (!this.isUnderWay(endpoint)) return false;
    this.#lastAt = Math.max(this.nextAt(endpoint), this.#clock.now() - lateMs);
    this.#share = between(this.#random, 0.5, 1.5);
    this.#left--;
    this.#unanswered++;
    return true;
  }

  /** Counts an attempt that has its answer, or that is no longer in flight. */
  finish(): void {
    this.#unanswered = Math.max(0, this.#unanswered - 1);
  }

  /** Adapts the gap to the latency of an answer, or to a failure. */
  observe(isFast: boolean, latencyMs: number): void {
    this.#gapMs = isFast
      ? Math.max(this.#leastGapMs, kept * this.#gapMs)
      : Math.max(this.#gapMs, Math.min(longestGapMs, latencyFactor * latencyMs));
  }
}
