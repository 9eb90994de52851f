import { instanceOfSteady, type OperationResult, type Steadfetch } from '../core/internal.ts';
import { subscribeAll, type TelemetryEvent, type TelemetrySources } from './subscribe-all.ts';

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
  const operations = { succeeded: 0, failed: 0, cancelled: 0, superseded: 0 };
  const counters = {
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
  };
  let lastDead = outbox?.getState().dead ?? 0;
  let pausedMs = 0;
  let attemptsToSuccess = 0;
  /** Operations that have emitted an attempt, and no end. */
  const open = new Set<number>();
  const pausedSince = new Map<number, number>();
  const down = new Set<string>();

  const endPause = (id: number, at: number): void => {
    pausedMs += at - (pausedSince.get(id) ?? at);
    pausedSince.delete(id);
  };
  const count = (event: TelemetryEvent): void => {
    switch (event.type) {
      case 'attempt:start':
        counters.attempts++;
        open.add(event.operation.id);
        if (event.operation.attempt > 1) counters.retries++;
        return;
      case 'decision': {
        const { id, attempt } = event.operation;
        if (open.has(id) && attempt > 1 && event.failure.kind !== 'aborted')
          counters.retriesFailed++;
        return;
      }
      case 'request:start':
        counters.requests++;
        return;
      case 'pause:start': {
        const { id } = event.operation;
        if (!pausedSince.has(id)) pausedSince.set(id, event.at);
        return;
      }
      case 'pause:end':
        if (event.result === 'probe') counters.probes++;
        endPause(event.operation.id, event.at);
        return;
      case 'operation:end': {
        const { id, attempt } = event.operation;
        endPause(id, event.at);
        // The operation began before the count.
        if (!open.delete(id)) return;
        operations[event.result]++;
        if (event.result !== 'succeeded') return;
        attemptsToSuccess += attempt;
        if (attempt > 1) counters.retriesSucceeded++;
        return;
      }
      case 'outage:start':
        counters[event.endpoint === undefined ? 'originOutages' : 'endpointOutages']++;
        down.add(scopeOf(event));
        return;
      case 'outage:end':
        // The recovery from an outage that began before the count does not count.
        if (down.delete(scopeOf(event)))
          counters[event.endpoint === undefined ? 'originRecoveries' : 'endpointRecoveries']++;
        return;
      case 'outbox':
        counters.deadLetters += Math.max(0, event.dead - lastDead);
        lastDead = event.dead;
        return;
      default:
      // Other events are covered by their start or end.
    }
  };

  return {
    stop: subscribeAll(steady, count, sources),
    snapshot() {
      const { attempts, retries, retriesSucceeded, retriesFailed } = counters;
      let stillMs = 0;
      for (const since of pausedSince.values()) stillMs += wall.now() - since;
      return {
        counters: {
          operations: { ...operations },
          ...counters,
          pausedMs: pausedMs + stillMs,
        },
        retryRate: ratio(retries, attempts),
        retrySuccessRate: ratio(retriesSucceeded, retriesSucceeded + retriesFailed),
        meanAttemptsToSuccess: ratio(attemptsToSuccess, operations.succeeded),
        down: down.size,
        paused: pausedSince.size,
        deadLetters: outbox?.getState().dead,
      };
    },
  };
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
