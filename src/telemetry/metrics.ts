import { instanceOfSteady, type OperationResult, type Steadfetch } from '../core/internal.ts';
import {
  byType,
  subscribeAll,
  type TelemetryEvent,
  type TelemetrySources,
} from './subscribe-all.ts';

/** Counters that only grow, since the call of `metrics`. */
export interface MetricsCounters {
  /** Ended operations, by result. */
  readonly operations: Readonly<Record<OperationResult, number>>;
  /** Runs of a queryFn, or of a function given to `retry`. */
  readonly attempts: number;
  /** Attempts after the first one of their operation. */
  readonly retries: number;
  readonly retriesSucceeded: number;
  /** Not counting those that were aborted. */
  readonly retriesFailed: number;
  /** Requests that were sent. */
  readonly requests: number;
  /** How often an endpoint went down. */
  readonly endpointOutages: number;
  /** How often a whole origin went down. */
  readonly originOutages: number;
  /** How often an endpoint, and a whole origin, recovered. */
  readonly endpointRecoveries: number;
  readonly originRecoveries: number;
  /** Probes that this tab sent. */
  readonly probes: number;
  /** Entries of the outbox that became dead letters. */
  readonly deadLetters: number;
  /** The total time that operations were paused, in milliseconds, including pauses in progress. */
  readonly pausedMs: number;
}

/** The counters, and values derived from them. A ratio without data is undefined. */
export interface MetricsSnapshot {
  readonly counters: MetricsCounters;
  /** Retries per attempt, from 0 to 1. More than 0.1 over minutes means an outage. */
  readonly retryRate: number | undefined;
  /** Successful retries, as a share of those that succeeded or failed, from 0 to 1. */
  readonly retrySuccessRate: number | undefined;
  /** The mean number of attempts of a successful operation. */
  readonly meanAttemptsToSuccess: number | undefined;
  /** Endpoints and origins that are down now. */
  readonly down: number;
  /** Operations that are paused now. */
  readonly paused: number;
  /** Entries of the outbox that cannot be delivered; undefined without an outbox. */
  readonly deadLetters: number | undefined;
}

/** A running count. */
export interface Metrics {
  /** The current counts, as an immutable value. */
  readonly snapshot: () => MetricsSnapshot;
  /** Stops counting. */
  readonly stop: () => void;
}

/**
 * Counts what an instance does, from now on.
 *
 * The counters only grow, so the difference of two snapshots is what happened in between. Plain mutations and
 * lone `steady.fetch` calls count as requests only, because they emit no attempts. If several requests of one
 * operation are paused at once, the pause counts until the first of them is sent.
 *
 * @throws TypeError if the first argument is not from `createSteadfetch`.
 *
 * @example
 * ```ts
 * const counted = metrics(steady, { outbox });
 * addEventListener('pagehide', () => {
 *   navigator.sendBeacon('/metrics', JSON.stringify(counted.snapshot()));
 * });
 * ```
 */
export function metrics(steady: Steadfetch, sources: TelemetrySources = {}): Metrics {
  const { wall } = instanceOfSteady(steady, 'metrics');
  const { outbox } = sources;
  const counts = new Counts(outbox?.getState().dead);
  return {
    stop: subscribeAll(steady, counts.record, sources),
    snapshot: () => counts.snapshot(wall.now(), outbox?.getState().dead),
  };
}

class Counts {
  readonly #counters = {
    operations: { succeeded: 0, failed: 0, cancelled: 0, superseded: 0 },
    attempts: 0,
    retries: 0,
    retriesSucceeded: 0,
    retriesFailed: 0,
    requests: 0,
    endpointOutages: 0,
    originOutages: 0,
    endpointRecoveries: 0,
    originRecoveries: 0,
    probes: 0,
    deadLetters: 0,
    pausedMs: 0,
  };
  #lastDead: number;
  #attemptsToSuccess = 0;
  /** Operations that have emitted an attempt, and no end. */
  readonly #open = new Set<number>();
  readonly #pausedSince = new Map<number, number>();
  readonly #down = new Set<string>();

  constructor(dead: number = 0) {
    this.#lastDead = dead;
  }

  /** Counts an event. Those without a function here are covered by their start or end. */
  readonly record: (event: TelemetryEvent) => void = byType({
    'attempt:start': ({ operation: { id, attempt } }) => {
      this.#counters.attempts++;
      this.#open.add(id);
      if (attempt > 1) this.#counters.retries++;
    },
    decision: ({ operation: { id, attempt }, failure }) => {
      if (this.#open.has(id) && attempt > 1 && failure.kind !== 'aborted')
        this.#counters.retriesFailed++;
    },
    'request:start': () => {
      this.#counters.requests++;
    },
    'pause:start': ({ operation: { id }, at }) => {
      if (!this.#pausedSince.has(id)) this.#pausedSince.set(id, at);
    },
    'pause:end': ({ operation: { id }, at, result }) => {
      if (result === 'probe') this.#counters.probes++;
      this.#endPause(id, at);
    },
    'operation:end': ({ operation: { id, attempt }, at, result }) => {
      this.#endPause(id, at);
      // The operation began before the count.
      if (!this.#open.delete(id)) return;
      this.#counters.operations[result]++;
      if (result !== 'succeeded') return;
      this.#attemptsToSuccess += attempt;
      if (attempt > 1) this.#counters.retriesSucceeded++;
    },
    'outage:start': (event) => {
      this.#counters[event.endpoint === undefined ? 'originOutages' : 'endpointOutages']++;
      this.#down.add(scopeOf(event));
    },
    'outage:end': (event) => {
      // The recovery from an outage that began before the count does not count.
      if (this.#down.delete(scopeOf(event)))
        this.#counters[event.endpoint === undefined ? 'originRecoveries' : 'endpointRecoveries']++;
    },
    outbox: ({ dead }) => {
      this.#counters.deadLetters += Math.max(0, dead - this.#lastDead);
      this.#lastDead = dead;
    },
  });

  #endPause(id: number, at: number): void {
    this.#counters.pausedMs += at - (this.#pausedSince.get(id) ?? at);
    this.#pausedSince.delete(id);
  }

  snapshot(nowMs: number, deadLetters: number | undefined): MetricsSnapshot {
    const { operations, attempts, retries, retriesSucceeded, retriesFailed } = this.#counters;
    let { pausedMs } = this.#counters;
    for (const since of this.#pausedSince.values()) pausedMs += nowMs - since;
    return {
      counters: { ...this.#counters, operations: { ...operations }, pausedMs },
      retryRate: ratio(retries, attempts),
      retrySuccessRate: ratio(retriesSucceeded, retriesSucceeded + retriesFailed),
      meanAttemptsToSuccess: ratio(this.#attemptsToSuccess, operations.succeeded),
      down: this.#down.size,
      paused: this.#pausedSince.size,
      deadLetters,
    };
  }
}

const ratio = (part: number, whole: number): number | undefined =>
  whole === 0 ? undefined : part / whole;

const scopeOf = ({
  origin,
  partition = '',
  endpoint = '',
}: Pick<
  Extract<TelemetryEvent, { type: 'outage:start' }>,
  'origin' | 'partition' | 'endpoint'
>): string => JSON.stringify([origin, partition, endpoint]);
