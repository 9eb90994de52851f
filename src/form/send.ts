import { isNotSentError } from '../fetch/errors.ts';
import { renewRefused } from '../fetch/intent.ts';
import { askBeforeLeaving } from '../lib/ask-before-leaving.ts';
import type { FormIntent } from './submission.ts';
import { trackIntent } from './track-submission.ts';
import { warn } from '../fetch/warn.ts';
import { createIdempotencyKey } from '../idempotency/key.ts';
import type { EndStatus } from './echo.ts';
import type { FormContext } from './context.ts';
import type { SubmitResult } from './safe-submit.ts';

/** How a submission has ended. */
export type Ended<TData, TError> = Extract<
  SubmitResult<TData, TError, never>,
  { readonly status: EndStatus }
>;

/** What a page has sent, and what it ended in. */
export interface Sent<TVariables, TError> {
  readonly key: string;
  readonly variables: TVariables;
  error?: TError;
}

/** The way out of a form. */
export interface FormSend<TData, TError, TVariables> {
  /** Sends a submission, and keeps it while its outcome is unknown. `wasSent`: it may have been done before. */
  readonly send: (
    variables: TVariables,
    submission: FormIntent,
    wasSent: boolean,
  ) => Promise<Ended<TData, TError>>;
  /** What this page has sent last. */
  readonly sent: () => Sent<TVariables, TError> | undefined;
}

export function createFormSend<TData, TError, TVariables, TOnMutateResult>({
  intents,
  observer,
  target,
  statuses,
}: FormContext<TData, TError, TVariables, TOnMutateResult>): FormSend<TData, TError, TVariables> {
  let sent: Sent<TVariables, TError> | undefined;
  return {
    sent: () => sent,
    async send(variables, submission, wasSent) {
      const { key, before } = submission;
      const sentBefore = sent;
      const isKept = observer.isKept();
      // Before anything goes out: whatever becomes of this page, the next one knows the key. An outbox
      // that keeps it sees to the keys by itself.
      const sentBy = createIdempotencyKey();
      intents.write({ ...submission, sentBy, ...(isKept && { isRepeatable: true }) });
      sent = { key, variables };
      // An outbox asks by itself, until it is on the disk.
      const stay = isKept ? undefined : askBeforeLeaving();
      // What was definitely refused goes under another key, or it would be refused for ever.
      const steps = submission.steps && renewRefused(submission.steps);
      const intent = trackIntent(intents, { ...submission, steps }, wasSent);
      const check = (): void => {
        if (process.env.NODE_ENV !== 'production' && !isKept && !intent.isRepeatable)
          if (!intent.isUnkeyed) warnOfNoKey(statuses, target.mutation);
      };
      try {
        const data = await observer.send(variables, intent);
        check();
        intents.remove(key);
        return { status: 'succeeded', data };
      } catch (thrown) {
        const error = thrown as TError;
        sent.error = error;
        // What this one has not done, another page of the tab may have, which has sent it since.
        const known = intents.read();
        const isOthers = known?.key === key && known.sentBy !== sentBy;
        if (observer.hasFailed() && !isOthers) {
          // Only what may have been done is kept: the one before it, too, which may be of the same content.
          intents.undo(key);
          if (!before) return { status: 'failed', error };
          const isSame = before.fingerprint === submission.fingerprint;
          sent = isSame ? { key: before.key, variables, error } : sentBefore;
          intent.wasSent = isSame;
          return { status: isSame ? 'unknown' : 'failed', error };
        }
        check();
        // Its API has another lifetime than when it was sent.
        if (isNotSentError(error) && error.outcome.kind === 'expired')
          intents.update(key, { expiresAt: submission.createdAt });
        return { status: 'unknown', error };
      } finally {
        stay?.();
      }
    },
  };
}

function warnOfNoKey(owner: object, form: string): void {
  warn(
    owner,
    form,
    `useSafeSubmit, ${form}: no request of this submission carried its idempotency key, so it cannot be ` +
      `sent again without asking the user. Send it with the json or fetch of the mutationFn's context, ` +
      `also after an await, or give context.idempotencyKey to another client.`,
  );
}
