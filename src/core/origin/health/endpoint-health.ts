import type { Outcome } from '../../policy/outcome.ts';
import type { ProbeSchedule } from './probe-schedule.ts';

/** The moving average keeps this much of the usual failure rate at a failure and, as failures are rare, at a success. */
const keptAtFailure = 0.9;
const keptAtSuccess = 0.97;
/** A shorter outage was none: its failures count towards the usual failure rate. */
const leastOutageMs = 500;
/** A failure this soon after sending may get a fast retry, if that is decided this soon after the failure. */
const soonMs = 1000;
/** An attempt sent this soon after an isolated failure is its fast retry. */
const fastMs = 100;
/** The lower bound of the usual failure rate. */
export const leastRate = 0.04;

interface Outage {
  readonly since: number;
  /** Whether it was taken over from another tab, or assumed because the device seems to be offline. */
  readonly isFollowed: boolean;
}

/**
 * The health of one endpoint, or of a whole origin: up, or down and probed.
 *
 * n failures in a row are an outage if pⁿ ≤ `maxChance`, where p is the usual failure rate: two for a healthy endpoint,
 * seven for one that fails every fifth time, because the moving average rises faster than it falls. So a tab with one
 * request in five seconds detects an outage soon, and a busy tab has no false alarms.
 */
export class Health {
  /** The endpoint, or `everything`. */
  readonly scope: string;
  readonly probes: ProbeSchedule;
  /** Undefined while it is up. */
  outage: Outage | undefined;
  /** When this tab probes next; undefined until that is scheduled. */
  probeAt: number | undefined;
  /** The number of failures since the last success, their endpoints, and when the first of them was sent. */
  failures = 0;
  readonly failed: Set<string> = new Set();
  failingSince: number = Infinity;
  /** When the latest successful attempt was sent. */
  answeredSentAt: number = -Infinity;
  usualRate = 0;
  /** Whether `fetch` rejected every attempt since the last success: none was answered or timed out. */
  isRejected = true;
  /** Whether the server answered with an error since the last success, so there is a network. */
  isAnswered = false;
  /** Whether it has failed again after others had answered while it failed: then it is broken by itself. */
  isBrokenAgain = false;
  /** How many of these failures were made in an outage. */
  #forgiven = 0;
  /** When the latest attempt failed, if that failure is isolated. */
  #aloneAt = -Infinity;
  /** When the latest failed attempt was sent. */
  #failedSentAt = -Infinity;

  constructor(scope: string, probes: ProbeSchedule) {
    this.scope = scope;
    this.probes = probes;
  }

  /** @returns whether the failures in a row are now an outage. */
  recordFailure(
    endpoint: string,
    sentAt: number,
    kind: Outcome['kind'],
    maxChance: number,
  ): boolean {
    // Sent before a successful attempt, it shows only that some attempts fail.
    if (sentAt <= this.answeredSentAt) {
      this.usualRate = this.usualRate * keptAtFailure + 1 - keptAtFailure;
      return false;
    }
    this.failed.add(endpoint);
    this.isRejected &&= kind === 'network';
    this.isAnswered ||= kind === 'http';
    this.failures++;
    this.failingSince = Math.min(this.failingSince, sentAt);
    this.#failedSentAt = Math.max(this.#failedSentAt, sentAt);
    const chance = Math.max(this.usualRate, leastRate) ** this.failures;
    return chance <= maxChance;
  }

  /** Records whether a failure is isolated: soon after sending, at a healthy origin. */
  recordAlone(sentAt: number, now: number, isHealthy: boolean): void {
    const isAlone = isHealthy && this.failures === 0 && now - sentAt < soonMs;
    this.#aloneAt = isAlone ? now : -Infinity;
  }

  /** Whether its latest failure is isolated and recent. */
  isAlone(now: number): boolean {
    return now - this.#aloneAt < soonMs;
  }

  /** Whether an attempt sent at `sentAt` is the fast retry after an isolated failure. */
  isFastRetry(sentAt: number): boolean {
    return sentAt > this.#failedSentAt && sentAt - this.#aloneAt < fastMs;
  }

  /** @returns whether it is evidence. While it is down, a success of an attempt sent before a failed one is none. */
  recordSuccess(sentAt: number, now: number, isAnyAnswer: boolean): boolean {
    if (!isAnyAnswer && this.outage && sentAt < this.#failedSentAt) return false;
    this.answeredSentAt = Math.max(this.answeredSentAt, sentAt);
    this.forgive(now);
    const kept = keptAtFailure ** (this.failures - this.#forgiven);
    this.usualRate = (this.usualRate * kept + 1 - kept) * keptAtSuccess;
    return true;
  }

  /**
   * Failures of an outage, its own or that of its origin, do not count towards the usual failure rate; failures between
   * answers do.
   */
  forgive(now: number, { outage }: Health = this): void {
    if (outage && now - outage.since >= leastOutageMs) this.#forgiven = this.failures;
  }

  begin(now: number, isFollowed: boolean, isEarly: boolean): void {
    this.outage = { since: now, isFollowed };
    this.probeAt = undefined;
    this.probes.begin(isEarly);
  }

  /** Ends the outage and keeps the failures, so one more begins it again. @returns how long it was down. */
  release(now: number): number | undefined {
    const { outage } = this;
    if (!outage) return undefined;
    this.forgive(now);
    this.outage = undefined;
    this.probes.close();
    return now - outage.since;
  }

  /** Ends the outage and forgets the failures. @returns how long it was down. */
  end(now: number): number | undefined {
    this.failures = this.#forgiven = 0;
    this.failed.clear();
    this.failingSince = Infinity;
    this.isRejected = true;
    this.isAnswered = false;
    this.isBrokenAgain = false;
    return this.release(now);
  }

  scheduleProbe(at: number): void {
    this.probeAt = at;
  }
}
