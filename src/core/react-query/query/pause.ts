import { focusManager, onlineManager, type Query } from '@tanstack/react-query';
import type { Clock } from '../../lib/clock.ts';
import { createAlarm } from '../../lib/timer.ts';
import { reportOf } from '../../operation/error-info.ts';
import { type Operation, operationOf } from '../../operation/operation.ts';
import type { PauseReason } from '../../policy/outcome.ts';
import type { QueryRecord, QueryRecords } from './records.ts';
import { ownWaitMs, retryTimes } from './react-query-alone.ts';
import { isOfOutage } from './refetch.ts';

/** The last retry gets this long for its answer. */
const lastProbeMs = 100;
/** After the first answer at the end of an outage, waiting attempts are usually sent within this time. */
const releaseMs = 3000;
/** A timer this late means that the device slept. */
const latestMs = 1000;
/** After a sleep, attempts that are due get this long before a pause ends. */
const wakeMs = 3000;

/**
 * Shows React Query a paused fetch as a retry of its own: `fetching`, or `paused` while the device is offline. A pause
 * ends when React Query alone would have given up: the fetch fails, its promises settle, and existing data stay. Only
 * the first load in an outage of the whole origin waits longer.
 */
export class QueryPauses {
  readonly #clock: Clock;
  readonly #byQuery: QueryRecords;

  constructor(clock: Clock, byQuery: QueryRecords) {
    this.#clock = clock;
    this.#byQuery = byQuery;
  }

  /** The operation is paused, its reason to wait has changed, or it goes on. */
  show(query: Query, operation: Operation): void {
    if (!this.#isIts(query, operation)) return;
    const reason = reasonOf(operation);
    // React Query does not know that a page was loaded offline. It shows a spinner then.
    const isOffline = !onlineManager.isOnline() && !operation.owner.isUnproven();
    setFetchStatus(query, reason === 'offline' && isOffline ? 'paused' : 'fetching');
    this.#limit(query, this.#endsAt(query, operation, reason));
  }

  /**
   * Records a failed attempt of a query that waits by its own `retryDelay`, or whose request is not linked to it: neither
   * wait is a pause of ours that could end. The attempt was the last one if the next would begin after such a pause.
   */
  recordFailure(query: Query, operation: Operation, nowMs: number): void {
    const { errors } = operation;
    const sender = operationOf(reportOf(errors.lastError, nowMs)) ?? operation;
    const hasRetried = operation.attempt > retryTimes(query, operation).length;
    const ownMs = ownWaitMs(query, operation);
    // A request without a link is paused by itself, so no wait is left when it has failed.
    const waitMs = ownMs ?? (hasRetried && sender !== operation ? 0 : undefined);
    const down = sender.route.down();
    if (waitMs === undefined || !down) return;
    const aloneUntil = hasRetried && ownMs !== undefined ? nowMs : endOf(query, operation);
    const isOver = hasRetried && !isOfOutage(errors.lastError);
    const endsAt = isOver ? aloneUntil : this.#pauseEndsAt(query, operation, sender, aloneUntil);
    if (nowMs + waitMs >= endsAt) errors.recordExpiry(down.admission.whyPaused(down).retryAt);
  }

  /**
   * Shows a fetch that begins paused as `paused`, for this turn only, so no component sees it. `invalidateQueries` and
   * `refetchQueries` do not wait for a fetch that is paused right after they began it.
   */
  showKnown(query: Query, operation: Operation): void {
    const { at } = operation.route;
    if (query.state.data === undefined || operation.attempt > 1 || !at) return;
    if (!isTrouble(at.admission.whyPaused(at).reason)) return;
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

  /** When a pause of the sender would end, if it began now. It is no longer than `maxPauseMs`. */
  #pauseEndsAt(query: Query, operation: Operation, sender: Operation, aloneUntil: number): number {
    const longestAt = operation.ref.startedAt + operation.policyOf(sender.route.at).maxPauseMs;
    const endsAt = this.#endsAt(query, operation, 'server-down', aloneUntil, sender);
    return Math.min(Math.max(aloneUntil, longestAt), endsAt);
  }

  /**
   * When the pause ends: when React Query alone would have given up, or never while a component shows a spinner for it
   * in an outage. An endpoint that fails while others answer may be broken for long, so its pause ends. So does that of
   * a URL that was never answered while nothing else fails.
   */
  #endsAt(
    query: Query,
    operation: Operation,
    reason: PauseReason | undefined,
    aloneUntil = endOf(query, operation),
    sender = operation,
  ): number {
    if (!isTrouble(reason)) return Infinity;
    if (query.state.data !== undefined) return aloneUntil;
    if (reason === 'rate-limited') return Infinity;
    if (!isShown(query)) return aloneUntil;
    const now = this.#clock.now();
    if (isOnlyFailure(sender)) return Math.max(aloneUntil, now);
    // At the end of an outage other endpoints are answered first, and this attempt is sent soon after.
    const brokenAt = this.#byQuery.of(query).recordBroken(isBroken(sender), now);
    return Math.max(aloneUntil, isBrokenAgain(sender) ? now : brokenAt + releaseMs);
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
    // In a hidden tab React Query itself does not give up.
    const isAsleep = now - limitAt > latestMs || !focusManager.isFocused();
    // React Query alone would still wait for that answer.
    const mayWait = isAsleep || operation.isLate;
    if (endAt <= now && !mayWait) operation.pauses.each('expire');
    else this.#limit(query, mayWait ? now + wakeMs : endAt);
  }
}

/** When React Query alone would have given up. */
const endOf = (query: Query, operation: Operation): number =>
  Math.max(0, ...retryTimes(query, operation)) + lastProbeMs;

const reasonOf = ({ pauses }: Operation): PauseReason | undefined => pauses.list[0]?.pause.reason;

function setFetchStatus(query: Query, fetchStatus: 'fetching' | 'paused'): void {
  if (query.state.fetchStatus !== fetchStatus) query.setState({ fetchStatus });
}

/** Whether the pause must be bounded. A queue is short, and offline React Query itself waits without a bound. */
const isTrouble = (reason: PauseReason | undefined): boolean =>
  reason === 'server-down' || reason === 'rate-limited';

/** Whether a component shows the query. A suspended component is no observer yet. */
function isShown(query: Query): boolean {
  const { suspense } = query.options as { readonly suspense?: boolean };
  return !!suspense || query.getObserversCount() > 0;
}

const isOnlyFailure = ({ route: { at } }: Operation): boolean =>
  !!at?.admission.origin.health.isOnlyFailure(at);

/** Whether other endpoints are answered while its own fails. */
const isBroken = ({ route: { at } }: Operation): boolean =>
  !!at?.admission.origin.health.isBroken(at.endpoint);

/** Whether its endpoint has failed once more since others were answered. */
const isBrokenAgain = ({ route: { at } }: Operation): boolean =>
  !!at?.admission.origin.health.of(at.endpoint)?.isBrokenAgain;
