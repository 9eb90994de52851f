import type { Outcome } from '../../policy/outcome.ts';
import type { ProbeSchedule } from './probe-schedule.ts';

/** How much of the usual failure rate is kept at a failure and, because few are seen, at a success. */
const keptAtFailure = 0.9;
const keptAtSuccess = 0.97;
/** What is answered so soon after it was taken for down was no outage: it fails now and then. */
const leastOutageMs = 500;
/** A failure within this time after sending gets a fast retry, if it is decided within this time after it. */
const soonMs = 1000;
/** An attempt that is sent within this time after a lone failure is the fast retry of it. */
const fastMs = 100;
/** The least that the usual failure rate is taken for. */
export const leastRate = 0.04;

/**
 * The health of one endpoint, or of all of its origin: up, or down and probed.
 *
 * n failures in a row are an outage when pⁿ ≤ `maxChance`, p being the usual failure rate (a moving
 * average): two for what is healthy, seven for what fails every fifth time. So it is fast for a tab with
 * one request in five seconds, and not false for a busy one.
 */
export class Health {
  /** The endpoint, or `everything`. */
  readonly scope: string;
  readonly probes: ProbeSchedule;
  /** When this tab probes it next, as far as is known. */
  probeAt: number | undefined;
  /** Since when it has been down; undefined while it is up. */
  downSince: number | undefined;
  /** Since the last good answer: how many attempts have failed, where, and when the first was sent. */
  failures = 0;
  readonly failed: Set<string> = new Set();
  failingSince: number = Infinity;
  /** When the latest attempt was sent that had a good answer. */
  answeredSentAt: number = -Infinity;
  usualRate = 0;
  /** Since the last good answer every attempt was rejected: none was answered or timed out. */
  isRejected = true;
  /** Since then an attempt was answered by an error: there is a way to the server. */
  isAnswered = false;
  /** Another tab has found it down. */
  isTold = false;
  /** When its latest attempt has failed, if that stands alone. */
  #aloneAt = -Infinity;
  /** When the latest attempt was sent that has failed. */
  #failedSentAt = -Infinity;

  constructor(scope: string, probes: ProbeSchedule) {
    this.scope = scope;
    this.probes = probes;
  }

  /** @returns whether so many failures in a row are an outage. */
  recordFailure(
    endpoint: string,
    sentAt: number,
    kind: Outcome['kind'],
    maxChance: number,
  ): boolean {
    // An attempt that was sent before one that was answered shows only that some attempts fail.
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

  /** An attempt has failed: alone, if that is soon after it was sent, and all of its origin was healthy. */
  recordAlone(sentAt: number, now: number, isHealthy: boolean): void {
    const isAlone = isHealthy && this.failures === 0 && now - sentAt < soonMs;
    this.#aloneAt = isAlone ? now : -Infinity;
  }

  /** Its latest failure stands alone, and has only just come. */
  isAlone(now: number): boolean {
    return now - this.#aloneAt < soonMs;
  }

  /** Whether an attempt that was sent at this time is the fast retry of a lone failure. */
  isFastRetry(sentAt: number): boolean {
    return sentAt > this.#failedSentAt && sentAt - this.#aloneAt < fastMs;
  }

  /** @returns whether that says anything of it: while it is down, only what was sent no earlier than what failed. */
  recordSuccess(sentAt: number, now: number, isAnyAnswer: boolean): boolean {
    const { downSince = Infinity, usualRate } = this;
    if (!isAnyAnswer && downSince < Infinity && sentAt < this.#failedSentAt) return false;
    this.answeredSentAt = Math.max(this.answeredSentAt, sentAt);
    // Failures of an outage do not count towards the usual failure rate; failures between answers do.
    const kept = now - downSince >= leastOutageMs ? 1 : keptAtFailure ** this.failures;
    this.usualRate = (usualRate * kept + 1 - kept) * keptAtSuccess;
    return true;
  }

  begin(now: number, isTold: boolean, isEarly: boolean): void {
    this.downSince = now;
    this.isTold = isTold;
    this.probes.begin(isEarly);
  }

  /** It goes out again, and is down again if that fails. @returns how long it was down. */
  release(now: number): number | undefined {
    const { downSince } = this;
    if (downSince === undefined) return undefined;
    this.downSince = undefined;
    this.probes.close();
    return now - downSince;
  }

  /** It is up: its failures are forgotten. @returns how long it was down. */
  end(now: number): number | undefined {
    this.failures = 0;
    this.failed.clear();
    this.failingSince = Infinity;
    this.isRejected = true;
    this.isAnswered = false;
    return this.release(now);
  }

  scheduleProbe(at: number): void {
    this.probeAt = at;
  }
}
