import { bindFetch, type Fetches } from '../../fetch/bind-fetch.ts';
import type { RawFetch, SteadyFetch } from '../../fetch/fetch.ts';
import { renewableAt } from '../../fetch/codes.ts';
import { submissionCode } from '../../fetch/keys.ts';
import { toUrl } from '../../lib/input/url.ts';
import { untilAborted, waitForStillness } from '../../lib/wait.ts';
import { reportOf } from '../../operation/error-info.ts';
import { isNetworkError } from '../../operation/errors.ts';
import type { Submission, PastStep } from '../../operation/parts/submission.ts';
import { mayHaveTakenEffect } from '../../operation/parts/known-errors.ts';
import type { Operation } from '../../operation/operation.ts';
import type { HandedOver } from '../../operation/environment.ts';
import type { Execution } from '../../operation/operations.ts';
import type { LoopContext } from '../../operation/retry-loop.ts';
import { createJson } from '../../fetch/json.ts';
import { fingerprintOf } from '../../lib/fingerprint.ts';
import type { Decision } from '../../policy/decide.ts';
import type { Failure } from '../../policy/outcome.ts';
import type { Running } from './due.ts';
import type { HandlerDefinition } from '../handler.ts';
import type { Row } from '../store/schema.ts';

/** What sends for an outbox. */
export interface SenderContext extends LoopContext, Fetches {}

/** What is known of the requests of an entry, before one of them goes. */
interface RequestNote extends Pick<Submission, 'isUnkeyed'> {
  readonly steps: readonly PastStep[];
}

/** How an entry is sent. */
export interface SendOptions {
  readonly definition: HandlerDefinition;
  readonly variables: unknown;
  /** Its handler is known to send past its context: nobody knows what it has sent. */
  readonly isForeign: boolean;
  /** A user has asked for it: it goes whatever is known of its origin. */
  readonly isUrged: boolean;
  /** Which operation it is: its attempts before were made in this tab. */
  readonly before: HandedOver | undefined;
  /** Its requests so far, in whatever tab. */
  readonly past: readonly PastStep[];
  /** Keeps this before a request goes. @returns whether it may go. */
  readonly note: (note: RequestNote) => Promise<boolean>;
  /** Takes that back, at once: nothing has gone, and nothing goes any more. */
  readonly takeBack: () => Promise<unknown>;
  /** It begins: what is paused of it can be seen. */
  readonly onOperation: (entry: Row, operation: Operation) => void;
}

/** What an attempt has come to. */
export type Attempted =
  | { readonly kind: 'done'; readonly data: unknown }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      readonly decision: Decision;
      readonly error: unknown;
      /** It, or one before it, may have been done. */
      readonly isInDoubt: boolean;
      /** When new credentials can be asked for, where it failed for want of them: in epoch milliseconds. */
      readonly renewableAt: number | undefined;
      /** A request of it went out. */
      readonly wasSent: boolean;
      /** What had to be kept before its first request went was not kept in time. */
      readonly isUnsent: boolean;
      readonly before: HandedOver;
      readonly past: readonly PastStep[];
    }
  /** Nobody wanted it any more, or it is another tab's. */
  | { readonly kind: 'dropped' }
  /** Without a key, it could be done twice. */
  | { readonly kind: 'not-repeatable' }
  /** What had to be kept before it went could not be. */
  | { readonly kind: 'unsent'; readonly error: unknown };

/** Makes one attempt at an entry, by the same rules as all that this instance sends. Never rejects. */
export async function sendEntry(
  context: SenderContext,
  running: Running,
  {
    definition,
    variables,
    isForeign,
    isUrged,
    before,
    past,
    note,
    takeBack,
    onOperation,
  }: SendOptions,
): Promise<Attempted> {
  const { clock, operations, signals } = context;
  const { entry } = running;
  const { signal } = running.controller;
  const { mutationFn: run, idempotent } = definition.handler;
  const idleSince = (): number | undefined => (running.open === 0 ? running.idleSince : undefined);
  const { id, createdAt, attempts, isInDoubt: wasSent } = entry;
  const steps = new Map(past.map((step) => [step.id, step]));
  let wasOut = false;
  let unkept: Extract<Attempted, { kind: 'dropped' | 'not-repeatable' | 'unsent' }> | undefined;
  let isOver = false;
  /** The next attempt sends it, or nobody does: the entry may be discarded meanwhile. */
  const refuseLate = (): void => {
    if (!isOver) return;
    let message = `The attempt of the outbox handler '${entry.handler}' that sends this has ended: it is not sent.`;
    if (process.env.NODE_ENV !== 'production')
      message += ' Await in the mutationFn all that it sends.';
    throw new Error(message);
  };
  const refuseUnkept = (isGone = false): void => {
    if (unkept || isGone) throw new Error('This entry is not sent: the outbox could not note it.');
  };
  signal.addEventListener('abort', () => {
    if (!wasOut) takeBack().catch(() => {});
  });
  const submission: Submission = {
    key: id,
    createdAt,
    wasSent,
    isUnkeyed: entry.isUnkeyed,
    past,
    digest: (body) => fingerprintOf(id, body),
    keep(step) {
      const { attempt: _, ...kept } = step;
      steps.set(step.id, kept);
    },
    async kept() {
      // Before each request: since the last one, another tab may have taken it over.
      await noteAll();
      refuseLate();
      refuseUnkept(signal.aborted);
      wasOut = true;
    },
  };
  const noteAll = async (): Promise<void> => {
    const { isUnkeyed } = submission;
    try {
      // Nobody knows any more whether it was under way already.
      if (isUnkeyed && entry.isRestored && !idempotent) unkept = { kind: 'not-repeatable' };
      else if (!(await note({ isUnkeyed, steps: [...steps.values()] })))
        unkept = { kind: 'dropped' };
    } catch (error) {
      unkept = { kind: 'unsent', error };
    }
  };
  const operation = operations.begin('mutation', {
    policy: definition.own,
    submission,
    submissionCode,
    idempotent,
    attempt: attempts,
    isUrged,
    before,
    endsWithOwner: true,
  });
  running.operation = operation;
  onOperation(entry, operation);
  signals.set(signal, operation);
  const bound = bindFetch(context, operation, signal, signals).fetchNow();
  const follow =
    (send: RawFetch): RawFetch =>
    async (input, init) => {
      refuseLate();
      const url = input instanceof Request ? input.url : `${input}`;
      const end = running.onRequest(toUrl(url)?.origin);
      try {
        return await send(input, init);
      } finally {
        end();
      }
    };
  const own = follow(bound.fetch as RawFetch) as SteadyFetch;
  const rawFetch = follow(bound.rawFetch);
  const json = createJson(own);
  const execution: Execution = { submission, operation, isIdle: () => idleSince() !== undefined };
  if (!idempotent) operations.executions.add(execution);
  const { timeout } = definition.policy;
  const limitMs = Math.max(leastMs, typeof timeout === 'object' ? timeout.headersMs : timeout);
  const stillness = waitForStillness(clock, limitMs, idleSince);
  let late: Error | undefined;
  try {
    if (isForeign) {
      submission.isUnkeyed = true;
      await submission.kept?.();
    }
    const giveUp = stillness.promise.then(() => {
      throw (late = idleError(limitMs));
    });
    operation.start();
    const made = Promise.race([
      giveUp,
      operations.tellEnd(
        operation,
        operations.run(operation, async () =>
          run(variables as never, {
            fetch: own,
            json,
            rawFetch,
            get idempotencyKey() {
              submission.isRepeatable = true;
              return id;
            },
            attempt: attempts,
            signal,
          }),
        ),
      ),
    ]);
    const data = await untilAborted(signal, made);
    // Whoever takes an error for an answer, it was not sent.
    refuseUnkept();
    return { kind: 'done', data };
  } catch (thrown) {
    const failing = !wasOut && unkept?.kind === 'unsent' ? unkept : undefined;
    if (signal.aborted || (unkept && !failing)) {
      operation.end('cancelled');
      return unkept ?? { kind: 'dropped' };
    }
    const error = failing ? failing.error : thrown;
    const report = reportOf(error, clock.now());
    const { failure } = report;
    const authAt = renewableAt.get(failure);
    // It may be kept all the same, and would then count as sent.
    const isTooLate = failure.kind === 'timeout' && failure.processed === 'no';
    const isUnsent = !!failing || (isTooLate && !wasOut);
    const isIdle = late !== undefined && error === late;
    // Nobody knows what it has done: what goes on as if its tab had died may be repeated, or has a key.
    const isLikeCrashed = isIdle && !(submission.isUnkeyed && !idempotent);
    // It is done, and whoever waits for its answer gets one when it is done once more.
    const isCutPut =
      report.method === 'PUT' &&
      failure.processed === 'yes' &&
      !operation.effects.isUnrepeatable() &&
      (isNetworkError(error) || failure.kind === 'timeout');
    const decision: Decision =
      isLikeCrashed || isCutPut || isUnsent || authAt !== undefined
        ? { kind: 'stop', reason: 'deadline', retryAt: undefined }
        : operation.fail(error);
    operation.recordError(error, clock.now(), decision);
    // Silently: the next attempt goes on with it, or whoever knows that there is none ends it.
    operation.end();
    const { ref, attempt, isTold } = operation;
    // The policy may know more by now: what the app reads from the error, or what the rest of the attempt has done.
    const shown = reportOf(error, clock.now());
    return {
      kind: 'failed',
      error,
      failure: shown.failure,
      isUnsent,
      renewableAt: authAt,
      decision,
      isInDoubt: isUnsent ? wasSent : isIdle || mayHaveTakenEffect(shown, operation),
      wasSent: wasOut,
      before: { ref, attempt, isTold },
      past: [...steps.values()],
    };
  } finally {
    isOver = true;
    operations.executions.delete(execution);
    stillness.stop();
  }
}

/** What does nothing for so long is given up. */
const leastMs = 60_000;
/** A handler has neither ended nor had a request under way for too long. */
function idleError(limitMs: number): Error {
  let message = `The mutationFn of an outbox handler has not settled, and has sent nothing, for ${limitMs / 1000} s. It is tried again later.`;
  if (process.env.NODE_ENV !== 'production')
    message += ' Let whatever it awaits end by itself, or give its policy a longer timeout.';
  return Object.assign(new Error(message), { name: 'IdleError' });
}
