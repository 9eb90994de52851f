import { bindFetch } from '../fetch/bind-fetch.ts';
import type { SteadyFetch } from '../fetch/create-fetch.ts';
import { reportOf } from '../fetch/failure-report.ts';
import type { Intent, PastStep, Step } from '../fetch/intent.ts';
import { mayBeDone } from '../fetch/is-in-doubt.ts';
import { createJson } from '../fetch/json.ts';
import type { LiveOperation } from '../fetch/live-operation.ts';
import type { LoopContext } from '../fetch/loop.ts';
import { fingerprint } from '../intent/fingerprint.ts';
import type { FailedAttempt } from './fate.ts';
import type { OutboxContext } from './handler.ts';
import type { PolicyOptions } from '../policy/options.ts';
import type { Row } from './row.ts';

/** What sends for an outbox. */
export interface SenderContext extends LoopContext {
  readonly fetch: SteadyFetch;
}

/** What an operation has been so far: its attempts before were made in this tab. */
export interface Sent {
  readonly ref: LiveOperation['ref'];
  readonly steps: readonly Step[];
}

/** What is known of the requests of a row, before one of them goes. */
interface RequestNote extends Pick<Intent, 'primary' | 'isUnkeyed'> {
  readonly steps: readonly PastStep[];
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
  readonly sent: Sent | undefined;
  /** Its requests so far, in whatever tab. */
  readonly past: readonly PastStep[];
  /** Keeps this before a request goes. @returns whether it may go. */
  readonly note: (note: RequestNote) => Promise<boolean>;
  /** It begins: what is held of it can be seen. */
  readonly onLive: (live: LiveOperation) => void;
}

/** What an attempt has come to. */
export type Attempted =
  | { readonly kind: 'done'; readonly data: unknown }
  | ({
      readonly kind: 'failed';
      readonly sent: Sent;
      readonly past: readonly PastStep[];
    } & FailedAttempt)
  /** Nobody wanted it any more, or it is another tab's. */
  | { readonly kind: 'dropped' }
  /** What had to be kept before it went could not be. */
  | { readonly kind: 'unsent'; readonly error: unknown };

/** Makes one attempt at a row, by the same rules as all that this instance sends. Never rejects. */
export async function sendRow(
  context: SenderContext,
  row: Row,
  { run, variables, policy, idempotent, signal, isUrged, sent, past, note, onLive }: SendOptions,
): Promise<Attempted> {
  const { clock, operations, signals, fetch } = context;
  const { id, createdAt, attempts, isInDoubt: wasSent } = row;
  const steps = new Map(past.map((step) => [step.id, step]));
  /** What was noted last: nothing yet, because it may have been held, and taken over meanwhile. */
  let noted = '';
  let wasOut = false;
  let unkept: Attempted | undefined;
  const intent: Intent = {
    key: id,
    createdAt,
    wasSent,
    primary: row.primary,
    isUnkeyed: row.isUnkeyed,
    past,
    digest: (body) => fingerprint(id, body),
    keep(step) {
      const { body: _, attempt: __, isPast: ___, ...kept } = step;
      steps.set(step.id, kept);
    },
    async kept() {
      const now = known();
      const text = JSON.stringify(now);
      if (text !== noted) {
        try {
          if (!(await note(now))) unkept = { kind: 'dropped' };
        } catch (error) {
          unkept = { kind: 'unsent', error };
        }
        if (unkept) throw new Error('This entry is not sent: the outbox could not note it.');
      }
      noted = text;
      wasOut = true;
    },
  };
  const known = (): RequestNote => {
    const { primary, isUnkeyed } = intent;
    return { primary, isUnkeyed, steps: [...steps.values()] };
  };
  const live = operations.begin('mutation', {
    policy,
    intent,
    idempotent,
    attempt: attempts,
    isUrged,
  });
  if (sent) {
    live.ref = sent.ref;
    live.steps = { known: recall(sent.steps, past), turn: Promise.resolve(), wasSent };
    if (wasSent) live.unsure = new Set();
  }
  onLive(live);
  signals.set(signal, live);
  const own = bindFetch(fetch, live, signal, signals).fetchNow();
  const json = createJson(own);
  try {
    const data = await operations.attempt(live, () =>
      run(variables as never, {
        fetch: own,
        json,
        idempotencyKey: id,
        attempt: attempts,
        signal,
      }),
    );
    // Whoever takes an error for an answer, it was not sent.
    return unkept ?? { kind: 'done', data };
  } catch (error) {
    if (signal.aborted || unkept) {
      operations.end(live, 'cancelled');
      return unkept ?? { kind: 'dropped' };
    }
    const { ref, steps: made } = live;
    const report = reportOf(error, clock.now());
    const decision = operations.conclude(live, error);
    // The next attempt may be that of another tab: silently, because the operation goes on.
    live.phase = 'ended';
    return {
      kind: 'failed',
      error,
      failure: report.failure,
      decision,
      isInDoubt: mayBeDone(report, live),
      wasSent: wasOut,
      sent: { ref, steps: made?.known ?? [] },
      past: [...steps.values()],
    };
  }
}

/** The steps with their bytes; of those that another tab has made, without. */
function recall(steps: readonly Step[], past: readonly PastStep[]): Step[] {
  const ids = new Set(steps.map(({ id }) => id));
  return [
    // An attempt that was only held has the number of the next.
    ...steps.map((step) => ({ ...step, attempt: 0 })),
    ...past
      .filter(({ id }) => !ids.has(id))
      .map((step) => ({ ...step, body: null, attempt: 0, isPast: true })),
  ];
}
