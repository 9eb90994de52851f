import type { Clock, Random } from '../lib/clock.ts';
import { reporterOf } from '../lib/callback.ts';
import { decide, type Decision } from '../policy/decide.ts';
import { isIdempotentMethod, type Operation } from '../policy/operation.ts';
import { layer, type Policy } from '../policy/options.ts';
import { type Failure, failures } from '../policy/outcome.ts';
import { Effects } from './effects.ts';
import { enterDecision, reportWithin } from './enter-decision.ts';
import type { FailureReport, RequestFacts } from './operation.ts';
import type { Emitter, EventDetail, OperationResult } from './events.ts';
import {
  countPaused,
  type Execution,
  type LiveOperation,
  type OperationInit,
} from './operation.ts';
import { warnOfInnerRetries } from './warn-of-loop.ts';

/** What a whole Steadfetch instance shares. */
export interface Environment {
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  readonly emitter: Emitter;
  /** What an error shows: what is known of it, or what the app itself reads from it. */
  readonly classifyError: (error: unknown, known: Failure) => Failure;
}

/** The operations of an instance: what begins, decides on and ends them. */
export interface Operations {
  readonly begin: (
    kind: Operation['kind'],
    init?: OperationInit,
    queryKey?: readonly unknown[],
  ) => LiveOperation;
  /** Counts the next attempt. What has passed since its time had come, it was paused. */
  readonly next: (live: LiveOperation) => void;
  /**
   * Runs an attempt, which is the current operation while `run` is on the stack, and tells of its
   * start and end. A success ends the operation.
   */
  readonly attempt: <T>(live: LiveOperation, run: () => T | Promise<T>) => Promise<T>;
  /** Its parts, for who runs one otherwise: tells of its start. */
  readonly start: (live: LiveOperation) => void;
  /** Tells of its end, and ends the operation. */
  readonly succeed: (live: LiveOperation) => void;
  /** Runs a part of an attempt: the operation is the current one while `run` is on the stack. */
  readonly run: <T>(live: LiveOperation, run: () => T) => T;
  /** The same without a frame on the stack: to be called again with what it returns. */
  readonly makeCurrent: (live: LiveOperation | undefined) => LiveOperation | undefined;
  /** The operation whose attempt is on the stack right now. */
  readonly current: () => LiveOperation | undefined;
  /** All that was said of how its failures are answered. */
  readonly policyOf: (live: LiveOperation, facts: RequestFacts) => Policy;
  /** Decides on the failure of the present attempt, and enters it. */
  readonly conclude: (live: LiveOperation, error: unknown) => Decision;
  /** The user has cancelled it: it ends with this error. */
  readonly cancel: (live: LiveOperation, error: unknown, report: FailureReport) => void;
  readonly end: (live: LiveOperation, result: OperationResult) => void;
  /** Whether anybody listens: without a listener no event need be made. */
  readonly isHeard: () => boolean;
  readonly emit: (live: LiveOperation, detail: EventDetail) => void;
  /** The mutations of ours whose mutationFn runs: a request of no operation may be one of theirs. */
  readonly executions: Set<Execution>;
  /** What ends the wait of each that is paused, or waits for its next attempt in a loop of ours: none of them is sent. */
  readonly waits: Set<() => void>;
}

const none: readonly never[] = [];
const yes = (): boolean => true;
const no = (): boolean => false;

/** Timers are so late at most while nobody sleeps: those of a hidden tab. */
const latestMs = 1000;

/** Makes what begins, decides on and ends the operations of an instance. */
export function createOperations(environment: Environment): Operations {
  const { clock, random, policy, emitter } = environment;
  let lastId = 0;
  let current: LiveOperation | undefined;

  const emit: Operations['emit'] = (live, detail) => {
    // An operation that has ended is silent, whatever of it is still under way.
    if (!emitter.isHeard() || live.phase === 'ended') return;
    // A query may be paused before its first attempt.
    if (detail.type === 'pause:start' && !live.isSingle) tellStart(live);
    const { ref, attempt } = live;
    const at = clock.now() - (clock.setBackMs?.() ?? 0);
    emitter.emit({ ...detail, at, operation: { ...ref, attempt } });
  };

  const tellStart = (live: LiveOperation): void => {
    if (live.attempt > 1 || live.isTold) return;
    live.isTold = true;
    emit(live, { type: 'operation:start' });
  };

  // What an attempt has left at an admission is not sent beside the next one.
  const dropPauses = (live: LiveOperation): void => {
    for (const { drop } of live.pauses) drop();
  };

  const end: Operations['end'] = (live, result) => {
    emit(live, { type: 'operation:end', result });
    live.phase = 'ended';
    live.steps = undefined;
    dropPauses(live);
    // They would keep the QueryClient for as long as its error is kept.
    live.onChange = undefined;
    live.isForeground = undefined;
    if (live.isUnproven) live.isUnproven = live.isUnproven() ? yes : no;
  };

  const policyOf: Operations['policyOf'] = (live, { apiPolicy, callPolicy }) => {
    const { policy: own, merged } = live;
    if (!apiPolicy && !own && !callPolicy) return policy;
    // The same for each of its attempts, as a rule, and merging takes long.
    if (merged && merged.own === own && merged.api === apiPolicy && merged.call === callPolicy)
      return merged.policy;
    const layered = layer(policy, apiPolicy, own, callPolicy);
    live.merged = { api: apiPolicy, own, call: callPolicy, policy: layered };
    return layered;
  };

  const decideOn = (
    live: LiveOperation,
    report: FailureReport,
    failure: Failure,
    nowMs: number,
  ): Decision => {
    const layered = policyOf(live, report);
    // A request that cannot be linked to its query is an operation of its own.
    const own = live.admission ? live : report.live;
    const { admission, sent } = own ?? {};
    const endpoint = sent?.endpoint ?? '';
    // A probe was sent for all who wait: it is no retry of this operation's. But what is slow where
    // the rest of its origin answers will be slow again.
    const isSlowByNature = failure.kind === 'timeout' && !!admission?.isItsOwnFault(endpoint);
    const trialAt = own?.trialAt;
    if (trialAt !== undefined && !isSlowByNature) live.trials++;
    if (own) own.trialAt = undefined;
    // Others were answered while this probe hung: it is late enough for its user.
    const isOver = trialAt !== undefined && !!admission && trialAt <= admission.recoveredAt();
    // What this request itself may have done is an input already.
    if (report.effect) report.effect.isRepeatable = true;
    return decide(failure, view(live, report), layered, {
      nowMs,
      random,
      isUnrepeatable: !!live.submission && live.effects.isUnrepeatable(),
      isDown: isOver || !!admission?.isDown(endpoint),
      limitedMs: admission && sent ? Math.ceil(admission.limitedUntil(sent.limitScope) - nowMs) : 0,
      onMistake,
    });
  };

  const enter = (
    live: LiveOperation,
    error: unknown,
    report: FailureReport,
    failure: Failure,
    decision: Decision,
  ): void => {
    enterDecision(live, error, report, decision);
    const { method, url } = report;
    const { maxRetries } = policyOf(live, report);
    emit(live, { type: 'decision', failure, decision, error, method, url, maxRetries });
  };

  const onMistake = reporterOf(
    environment,
    'shouldRetry',
    process.env.NODE_ENV !== 'production' &&
      'the status table decides. It must be synchronous and return true, false or undefined',
  );

  // For the synchronous part only: after an await, the signal is the link.
  const makeCurrent = (live: LiveOperation | undefined): LiveOperation | undefined => {
    const outer = current;
    current = live;
    return outer;
  };
  const onStack: Operations['run'] = (live, run) => {
    const outer = makeCurrent(live);
    try {
      return run();
    } finally {
      makeCurrent(outer);
    }
  };

  const start = (live: LiveOperation): void => {
    if (!emitter.isHeard()) return;
    tellStart(live);
    emit(live, { type: 'attempt:start' });
  };
  const succeed = (live: LiveOperation): void => {
    emit(live, { type: 'attempt:end', error: undefined });
    end(live, 'succeeded');
  };

  const operations: Operations = {
    // All that most operations have: what is added later costs more than all of this.
    begin: (kind, init, queryKey) => ({
      ref: { id: ++lastId, kind, startedAt: clock.now(), queryKey },
      attempt: 1,
      phase: 'sending',
      retriedFor: none,
      askedAt: clock.now(),
      trials: 0,
      trialAt: undefined,
      isForeground: undefined,
      isUnproven: undefined,
      mayBeOffline: undefined,
      endsWithQuery: undefined,
      isSingle: undefined,
      previousBackoffMs: undefined,
      failedAt: undefined,
      dueAt: undefined,
      pausedTo: undefined,
      pausedMs: 0,
      pauses: none,
      effects: new Effects(init?.submission),
      admission: undefined,
      sent: undefined,
      earlyPermit: undefined,
      decision: undefined,
      lastError: undefined,
      raw: undefined,
      ledger: undefined,
      isAsked: false,
      onChange: undefined,
      isUrged: undefined,
      policy: undefined,
      merged: undefined,
      ...init,
    }),
    next(live) {
      live.attempt++;
      live.phase = 'sending';
      if (process.env.NODE_ENV !== 'production') live.failedRequests = undefined;
      const now = clock.now();
      const dueAt = live.decision?.retryAt ?? now;
      countPaused(live, dueAt, now);
      // What is so late was asleep, and asks anew.
      if (now - dueAt > latestMs) live.askedAt = now;
    },
    async attempt(live, run) {
      start(live);
      try {
        const value = await onStack(live, run);
        succeed(live);
        return value;
      } catch (error) {
        emit(live, { type: 'attempt:end', error });
        throw error;
      }
    },
    start,
    succeed,
    run: onStack,
    makeCurrent,
    current: () => current,
    isHeard: emitter.isHeard,
    policyOf,
    conclude(live, error) {
      if (process.env.NODE_ENV !== 'production') warnOfInnerRetries(operations, live, error);
      const nowMs = clock.now();
      const report = reportWithin(live, error, nowMs);
      report.failure = environment.classifyError(error, report.failure);
      const isAbort = live.abort && live.abort.reason === error;
      const failure = isAbort ? failures.aborted : report.failure;
      const decision = decideOn(live, report, failure, nowMs);
      enter(live, error, report, failure, decision);
      if (decision.kind === 'retry') {
        dropPauses(live);
        live.phase = 'waiting';
        live.retriedFor = live.retriedFor.concat(decision.reason);
        live.previousBackoffMs = decision.backoffMs;
      } else if (live.endsWithQuery) {
        dropPauses(live);
        live.phase = 'waiting';
      } else end(live, failure.kind === 'aborted' ? 'cancelled' : 'failed');
      return decision;
    },
    cancel(live, error, report) {
      const failure = failures.aborted;
      const decision = decide(failure, view(live, report), policyOf(live, report), {
        nowMs: clock.now(),
        random,
        isCancelled: true,
      });
      enter(live, error, report, failure, decision);
      end(live, 'cancelled');
    },
    end,
    emit,
    executions: new Set(),
    waits: new Set(),
  };
  return operations;
}

/** The operation as the policy, `shouldRetry` and errors see it: a value that no longer changes. */
export function view(live: LiveOperation, facts: RequestFacts): Operation {
  const { ref, attempt, trials, retriedFor, previousBackoffMs, pausedMs } = live;
  // Without a method it is somebody else's request: a query reads; anything else might write.
  const { method = ref.kind === 'query' ? 'GET' : 'POST', url, keyed = false } = facts;
  // Written out: it is made for every failure, and a spread takes several times as long.
  return {
    id: ref.id,
    kind: ref.kind,
    startedAt: ref.startedAt,
    queryKey: ref.queryKey,
    attempt,
    trials,
    method,
    url,
    keyed,
    idempotent: !!(live.idempotent || facts.idempotent) || isIdempotentMethod(method),
    retriedFor,
    previousBackoffMs,
    pausedMs,
  };
}
