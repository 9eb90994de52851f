import { bindFetch } from '../fetch/bind-fetch.ts';
import type { SteadyFetch } from '../fetch/create-fetch.ts';
import { reportOf } from '../fetch/failure-report.ts';
import type { Intent } from '../fetch/intent.ts';
import { isInDoubt } from '../fetch/is-in-doubt.ts';
import { createJson } from '../fetch/json.ts';
import type { LiveOperation } from '../fetch/live-operation.ts';
import type { LoopContext } from '../fetch/loop.ts';
import { isSafeMethod } from '../policy/operation.ts';
import type { FailedAttempt } from './fate.ts';
import type { OutboxContext } from './handler.ts';
import type { PolicyOptions } from '../policy/options.ts';
import type { Row } from './row.ts';

/** What sends for an outbox. */
export interface SenderContext extends LoopContext {
  readonly fetch: SteadyFetch;
}

/** How a row is sent. */
export interface SendOptions {
  readonly run: (variables: never, context: OutboxContext) => Promise<unknown>;
  readonly variables: unknown;
  readonly policy: PolicyOptions;
  readonly idempotent: boolean | undefined;
  /** Ends the attempt: nobody wants it any more. */
  readonly signal: AbortSignal;
  /** A person has asked for it: it goes whatever is known of its origin. */
  readonly isUrged: boolean;
  /** Which request carries the key, before that goes. */
  readonly onPrimary: (id: string) => void;
  /** The same operation, whose attempts before were made here. */
  readonly ref: LiveOperation['ref'] | undefined;
  /** It begins: what is held of it can be seen. */
  readonly onLive: (live: LiveOperation) => void;
}

/** What an attempt has come to. */
export type Attempted =
  | { readonly kind: 'done'; readonly data: unknown }
  | ({ readonly kind: 'failed'; readonly isUnkeyed: boolean } & FailedAttempt)
  /** Nobody wanted it any more. */
  | { readonly kind: 'dropped' };

/** Makes one attempt at a row, by the same rules as all that this instance sends. Never rejects. */
export async function sendRow(
  context: SenderContext,
  row: Row,
  { run, variables, policy, idempotent, signal, isUrged, ref, onPrimary, onLive }: SendOptions,
): Promise<Attempted> {
  const { clock, operations, signals, fetch } = context;
  const { id, createdAt, attempts, isInDoubt: wasSent } = row;
  let primary = row.primary;
  let isUnkeyed = row.isUnkeyed ?? false;
  const intent: Intent = {
    key: id,
    createdAt,
    wasSent,
    get primary() {
      return primary;
    },
    set primary(step) {
      primary = step;
      if (step !== undefined) onPrimary(step);
    },
    get isUnkeyed() {
      return isUnkeyed;
    },
    set isUnkeyed(is) {
      isUnkeyed = is ?? false;
    },
  };
  const live = operations.begin('mutation', {
    policy,
    intent,
    idempotent,
    attempt: attempts,
    isUrged,
  });
  if (ref) live.ref = ref;
  onLive(live);
  signals.set(signal, live);
  const bound = bindFetch(fetch, live, signal, signals);
  const json = createJson(bound.fetch);
  try {
    const data = await operations.attempt(live, () =>
      run(variables as never, {
        fetch: bound.fetch,
        json,
        idempotencyKey: id,
        attempt: attempts,
        signal,
      }),
    );
    return { kind: 'done', data };
  } catch (error) {
    if (signal.aborted) {
      operations.end(live, 'cancelled');
      return { kind: 'dropped' };
    }
    const { failure, method = 'POST' } = reportOf(error, clock.now());
    const decision = operations.conclude(live, error);
    const isOpen = failure.processed !== 'no' && !isSafeMethod(method);
    const isUnsure = isOpen || isInDoubt(live);
    // The next attempt may be that of another tab: silently, because the operation goes on.
    live.phase = 'ended';
    return { kind: 'failed', error, failure, decision, isInDoubt: isUnsure, isUnkeyed };
  }
}
