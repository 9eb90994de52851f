import type { OperationResult } from '../operation/events.ts';
import { instanceOfSteady } from '../react-query/instance.ts';
import type { Steadfetch } from '../react-query/steadfetch.ts';
import { subscribeAll, type TelemetryEvent, type TelemetrySources } from './subscribe-all.ts';

/** What only grows, since `metrics` was called. */
export interface MetricsCounters {
  /** Operations that have ended, by how. */
  readonly operations: Readonly<Record<OperationResult, number>>;
  /** Runs of a queryFn, or of a function that is retried. */
  readonly attempts: number;
  /** Those of them after the first one of their operation. */
  readonly retries: number;
  readonly retriesSucceeded: number;
  /** Without those that were aborted. */
  readonly retriesFailed: number;
  /** Requests that were sent. */
  readonly requests: number;
  /** How often an endpoint was taken for down. */
  readonly endpointOutages: number;
  /** How often all of an origin was taken for down. */
  readonly originOutages: number;
  /** How often an endpoint, and all of an origin, was up again. */
  readonly endpointRecoveries: number;
  readonly originRecoveries: number;
  /** Probes that this tab has sent: the single attempts at what is down. */
  readonly probes: number;
  /** Entries of the outbox that became dead letters. */
  readonly deadLetters: number;
  /** For how long operations were paused, in milliseconds, those that still are included. */
  readonly pausedMs: number;
}

/** The counters, and what follows from them. A ratio of which nothing is known yet is undefined. */
export interface MetricsSnapshot {
  readonly counters: MetricsCounters;
  /** Retries per attempt, from 0 to 1. More than 0.1 over minutes is an outage. */
  readonly retryRate: number | undefined;
  /** Retries that succeeded, of those that succeeded or failed, from 0 to 1. */
  readonly retrySuccessRate: number | undefined;
  /** Attempts that an operation has needed to succeed, on average. */
  readonly meanAttemptsToSuccess: number | undefined;
  /** Endpoints and origins that are taken for down now. */
  readonly down: number;
  /** Operations that are paused now. */
  readonly paused: number;
  /** Entries of the outbox that cannot be delivered; undefined without an outbox. */
  readonly deadLetters: number | undefined;
}

/** Counts what happens. */
export interface Metrics {
  /** What was counted until now: a value that no longer changes. */
  readonly snapshot: () => MetricsSnapshot;
  /** Counts no more. */
  readonly stop: () => void;
}

/**
 * Counts what an instance does, from now on.
 *
 * The counters only grow, so a difference of two snapshots is what happened in between. A plain mutation
 * and a lone `steady.fetch` count as requests only: they have no attempts that are told of. Of several
 * requests of one operation that are paused at once, the pause lasts until the first of them goes.
 *
 * @throws TypeError when the first argument is not what `createSteadfetch` returns.
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
  /** Those of which an attempt was told, and no end. */
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
        // It began before anybody counted.
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
        // Those that were down before anybody counted are no recoveries of counted outages.
        if (down.delete(scopeOf(event)))
          counters[event.endpoint === undefined ? 'originRecoveries' : 'endpointRecoveries']++;
        return;
      case 'outbox':
        counters.deadLetters += Math.max(0, event.dead - lastDead);
        lastDead = event.dead;
        return;
      default:
      // The others are counted by their beginning, or by their end.
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
