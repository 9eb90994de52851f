import { focusManager, onlineManager, type Query } from '@tanstack/react-query';
import type { Clock } from '../../lib/clock.ts';
import { createAlarm } from '../../lib/timer.ts';
import type { Operation } from '../../operation/operation.ts';
import type { PauseReason } from '../../policy/outcome.ts';
import type { QueryRecord, QueryRecords } from './records.ts';
import { ownWaitMs, retriesAlone, retryTimes } from './react-query-alone.ts';

/** The last retry is sent before the end, and answered after it. */
const lastProbeMs = 100;
/** At the end of an outage the attempts that waited have been sent, as a rule, this long after the first answer. */
const releaseMs = 3000;
/** A timer this late means that the device slept: what is due goes first, for so long. */
const latestMs = 1000;
const wakeMs = 3000;

/**
 * A paused fetch looks to React Query like one of its own that is retried: it is `fetching`, or `paused` while
 * the device is offline. It also lasts no longer, but for the first load in an outage of the whole origin:
 * then it fails, its promises settle, and data that are there stay.
 */
export class QueryPauses {
  readonly #clock: Clock;
  readonly #byQuery: QueryRecords;

  constructor(clock: Clock, byQuery: QueryRecords) {
    this.#clock = clock;
    this.#byQuery = byQuery;
  }

  /** The operation is paused, for another reason than before, or goes on. */
  show(query: Query, operation: Operation): void {
    if (!this.#isIts(query, operation)) return;
    const reason = reasonOf(operation);
    // Of a page that was loaded offline React Query does not know it, and shows its spinner.
    const isOffline = !onlineManager.isOnline() && !operation.owner.isUnproven();
    setFetchStatus(query, reason === 'offline' && isOffline ? 'paused' : 'fetching');
    this.#limit(query, this.#endsAt(query, operation, reason));
  }

  /** An attempt has failed. Where its query's own `retryDelay` waits until its pause would be over, it was the last. */
  recordFailure(query: Query, operation: Operation, nowMs: number): void {
    const waitMs = ownWaitMs(query, operation);
    const down = operation.route.down();
    if (waitMs === undefined || !down) return;
    const aloneUntil = operation.attempt > retriesAlone(operation) ? nowMs : undefined;
    if (nowMs + waitMs > this.#endsAt(query, operation, 'server-down', aloneUntil))
      operation.errors.recordExpiry(down.admission.whyPaused(down.sent).retryAt);
  }

  /**
   * Its fetch has just begun, and it is known that it is paused: `invalidateQueries` and `refetchQueries` do not wait
   * for what is paused when they have begun it. For this turn only: no component sees it.
   */
  showKnown(query: Query, operation: Operation): void {
    const { at } = operation.route;
    if (query.state.data === undefined || query.state.fetchFailureCount > 0 || !at) return;
    if (!isTrouble(at.admission.whyPaused(at.sent).reason)) return;
    setFetchStatus(query, 'paused');
    queueMicrotask(() => this.show(query, operation));
  }

  #isIts(query: Query, operation: Operation): boolean {
    return (
      this.#byQuery.get(query) === operation &&
      operation.phase.kind !== 'ended' &&
      query.state.fetchStatus !== 'idle'
    );
  }

  /**
   * When React Query alone would have given up; `Infinity` while a component shows a spinner for it in an outage:
   * but an endpoint that goes on failing beside others that answer may be broken for long. So may one whose URL was
   * never answered, where others were and nothing else fails.
   */
  #endsAt(
    query: Query,
    operation: Operation,
    reason: PauseReason | undefined,
    aloneUntil?: number,
  ): number {
    if (!isTrouble(reason)) return Infinity;
    const endAt = aloneUntil ?? (retryTimes(query, operation).at(-1) ?? 0) + lastProbeMs;
    if (query.state.data !== undefined) return endAt;
    if (reason === 'rate-limited') return Infinity;
    if (!isShown(query)) return endAt;
    const now = this.#clock.now();
    if (isOnlyFailure(operation)) return Math.max(endAt, now);
    // At the end of an outage others are answered first, and it goes soon.
    const brokenAt = this.#byQuery.of(query).recordBroken(isBroken(operation), now);
    return Math.max(endAt, isBrokenAgain(operation) ? now : brokenAt + releaseMs);
  }

  /** Bounds the pause of a query. */
  #limit(query: Query, at: number): void {
    const record = this.#byQuery.of(query);
    record.limit(at, () => createAlarm(this.#clock, () => this.#expire(query, record)));
  }

  #expire(query: Query, { operation, limitAt }: QueryRecord): void {
    if (!operation || !this.#isIts(query, operation)) return;
    const now = this.#clock.now();
    const endAt = this.#endsAt(query, operation, reasonOf(operation));
    // React Query itself gives nothing up in a hidden tab.
    const isAsleep = now - limitAt > latestMs || !focusManager.isFocused();
    if (endAt <= now && !isAsleep) operation.pauses.each('expire');
    else this.#limit(query, isAsleep ? now + wakeMs : endAt);
  }
}

const reasonOf = ({ pauses }: Operation): PauseReason | undefined => pauses.list[0]?.pause.reason;

function setFetchStatus(query: Query, fetchStatus: 'fetching' | 'paused'): void {
  if (query.state.fetchStatus !== fetchStatus) query.setState({ fetchStatus });
}

/** A place in a queue comes soon, and React Query itself waits for the network. */
const isTrouble = (reason: PauseReason | undefined): boolean =>
  reason === 'server-down' || reason === 'rate-limited';

/** A suspended component is not there yet. */
function isShown(query: Query): boolean {
  const { suspense } = query.options as { readonly suspense?: boolean };
  return !!suspense || query.getObserversCount() > 0;
}

const isOnlyFailure = ({ route: { at } }: Operation): boolean =>
  !!at?.admission.origin.health.isOnlyFailure(at.sent);

/** Whether other endpoints are answered while its own fails. */
const isBroken = ({ route: { at } }: Operation): boolean =>
  !!at?.admission.origin.health.isBroken(at.sent.endpoint);

/** And it has failed once more since. */
const isBrokenAgain = ({ route: { at } }: Operation): boolean =>
  !!at?.admission.origin.health.of(at.sent.endpoint)?.isBrokenAgain;
