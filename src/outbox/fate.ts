import type { Decision, StopReason } from '../policy/decide.ts';
import type { Failure } from '../policy/outcome.ts';
import type { DeadReason, Row, RowError } from './store/schema.ts';

/** What an attempt that failed has shown. */
export interface FailedAttempt {
  readonly failure: Failure;
  readonly decision: Decision;
  readonly error: unknown;
  /** It, or one before it, may have been done. */
  readonly isInDoubt: boolean;
  /** A request of it went out. */
  readonly wasSent: boolean;
}

/** The app's own limits; by default there are none. */
export interface Limits {
  readonly maxAttempts: number;
  readonly maxAgeMs: number;
}

/** What becomes of a row after an attempt that failed. */
export type Fate =
  | {
      readonly kind: 'again';
      readonly nextRetryAt: number;
      /** The server has said so. */
      readonly notBefore?: number;
      readonly attempts: number;
    }
  | { readonly kind: 'dead'; readonly reason: DeadReason };

/** What a user must decide. All other ends of a policy are waits for an outbox. */
const finals: Partial<Record<StopReason, DeadReason>> = {
  'not-retryable': 'refused',
  'should-retry': 'refused',
  'not-idempotent': 'not-repeatable',
  processed: 'answer-lost',
  expired: 'expired',
};

/**
 * What comes after an attempt that failed: what the policy has decided; and where it would only have
 * stopped waiting (its budget, its time, its number of retries), a later attempt. `backoffMs` is the
 * wait where nobody has said one.
 */
export function fateOf(
  { failure, decision, wasSent }: Pick<FailedAttempt, 'failure' | 'decision' | 'wasSent'>,
  { attempts, createdAt }: Pick<Row, 'attempts' | 'createdAt'>,
  { maxAttempts, maxAgeMs }: Limits,
  { nowMs, backoffMs }: { readonly nowMs: number; readonly backoffMs: () => number },
): Fate {
  if (decision.kind === 'stop') {
    const reason = finals[decision.reason];
    // A request that could not be sent will not be a better one; what is paused was none.
    if (reason) return { kind: 'dead', reason };
  }
  const wasPaused = failure.kind === 'paused-too-long' || failure.kind === 'over-budget';
  const made = wasPaused && !wasSent ? attempts - 1 : attempts;
  if (made >= maxAttempts) return { kind: 'dead', reason: 'max-attempts' };
  // What the admission knows of its own waits does not outlive them: a later attempt asks it again.
  const toldMs = failure.kind === 'http' ? failure.retryAfterMs : undefined;
  const waitMs = decision.kind === 'retry' ? decision.delayMs : Math.max(backoffMs(), toldMs ?? 0);
  const nextRetryAt = nowMs + waitMs;
  if (nextRetryAt - createdAt > maxAgeMs) return { kind: 'dead', reason: 'max-age' };
  const notBefore = toldMs === undefined ? undefined : nowMs + toldMs;
  return { kind: 'again', nextRetryAt, ...(notBefore && { notBefore }), attempts: made };
}

const longestMessage = 200;

/** An error as it is kept: its name, its status, and a line. Whatever was thrown, this does not throw. */
export function shorten(error: unknown): RowError {
  try {
    const { name, message, status } = Object(error) as Record<string, unknown>;
    const text = typeof message === 'string' ? message : String(error);
    return {
      name: typeof name === 'string' ? name : 'Error',
      message: text.length > longestMessage ? `${text.slice(0, longestMessage - 1)}…` : text,
      ...(typeof status === 'number' && { status }),
    };
  } catch {
    return { name: 'Error', message: 'Something was thrown that cannot be read.' };
  }
}
