import type { Clock } from '../policy/clock.ts';
import type { Failure } from '../policy/outcome.ts';
import { NotSentError } from './errors.ts';
import { reportFailure } from './failure-report.ts';
import type { IdempotencyProfile } from './idempotency-profile.ts';
import type { Step } from './intent.ts';
import type { KeyedRequest } from './keyed-request.ts';
import type { LiveOperation } from './live-operation.ts';
import { view } from './operations.ts';
import type { SentFacts } from './passage.ts';
import { shown } from './request-parts.ts';

/** Reads the answers to a keyed request as its API means them. */
export function judgeAnswers(
  profile: IdempotencyProfile,
  step: Step,
  live: LiveOperation,
  clock: Clock,
): Omit<KeyedRequest, 'init'> {
  const { lifetimeMs = Infinity, alreadyDone } = profile;
  // Not by the outcome of this attempt: what an earlier one may have done, this one does not undo.
  const mayBeDone = ({ name }: SentFacts): boolean =>
    !!live.steps?.wasSent || !!live.unsure?.has(name);

  return {
    start(facts) {
      const now = clock.now();
      const bornAt = (!step.refusals && live.intent?.createdAt) || (step.sentAt ?? now);
      if (now - bornAt > lifetimeMs && mayBeDone(facts)) return expire(facts);
      step.sentAt ??= now;
      live.intent?.keep?.(step);
      return undefined;
    },
    isInProgress: (response) =>
      response.status === 409 && ask(() => profile.inProgress?.(response) ?? true) === true,
    async judge(response, failure, facts, signal) {
      if (alreadyDone) {
        const copy = response.clone();
        const said = (async () => alreadyDone(copy))().catch(() => false);
        // It may never say: then what has come counts.
        if (await Promise.race([said, whenAborted(signal)])) return undefined;
      }
      const isStored = response.headers.get('idempotent-replayed') === 'true';
      const shouldRetry =
        ask(() => profile.shouldRetry?.(response)) ?? (isStored ? false : undefined);
      const isUnsure = failure.processed === 'no' && mayBeDone(facts);
      return { ...failure, shouldRetry, processed: isUnsure ? 'unknown' : failure.processed };
    },
    succeed() {
      step.isDone = true;
      live.intent?.keep?.(step);
    },
  };
}

function expire(facts: SentFacts): NotSentError {
  const { live, name } = facts;
  const outcome: Failure = { kind: 'expired', processed: 'unknown' };
  const error = new NotSentError(
    `${shown(name)}: not sent again, its idempotency key is older than its API keeps one. ` +
      `It may have been done: look first, and then send it under a new key or not at all.`,
    { operation: view(live, facts), outcome, cause: live.lastError },
  );
  reportFailure(error, { ...facts, failure: outcome });
  return error;
}

const whenAborted = (signal: AbortSignal): Promise<false> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });

/** Somebody else's mistake must not hide the answer. */
function ask<T>(question: () => T): T | undefined {
  try {
    return question();
  } catch {
    return undefined;
  }
}
