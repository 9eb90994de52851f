import { isNotSentError } from '../fetch/errors.ts';
import { askBeforeLeaving } from '../intent/ask-before-leaving.ts';
import type { FormIntent } from '../intent/form-intent.ts';
import { trackIntent } from '../intent/track-intent.ts';
import type { EndStatus } from './echo.ts';
import type { FormContext } from './form-context.ts';
import type { SubmitResult } from './submission.ts';

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
  /** Sends an intent, and keeps what becomes of it. `wasSent`: it may have been done before. */
  readonly send: (
    variables: TVariables,
    intent: FormIntent,
    wasSent: boolean,
  ) => Promise<Ended<TData, TError>>;
  /** What this page has sent last. */
  readonly sent: () => Sent<TVariables, TError> | undefined;
}

export function createFormSend<TData, TError, TVariables, TOnMutateResult>({
  statuses,
  intents,
  observer,
  target,
}: FormContext<TData, TError, TVariables, TOnMutateResult>): FormSend<TData, TError, TVariables> {
  let sent: Sent<TVariables, TError> | undefined;
  return {
    sent: () => sent,
    async send(variables, formIntent, wasSent) {
      const { key } = formIntent;
      // Before anything goes out: whatever becomes of this page, the next one knows the key.
      intents.write(formIntent);
      sent = { key, variables };
      // An outbox asks by itself, until it is on the disk.
      const stay = observer.isKept() ? undefined : askBeforeLeaving();
      const intent = trackIntent(intents, formIntent, wasSent);
      try {
        const data = await observer.send(variables, intent);
        intents.remove(key);
        return { status: 'succeeded', data };
      } catch (thrown) {
        const error = thrown as TError;
        sent.error = error;
        const { status } = statuses.getState(statuses.idOf(target));
        // Of what is not surely undone, nothing is forgotten.
        const outcome = status === 'failed' ? 'failed' : 'unknown';
        const isExpired = isNotSentError(error) && error.outcome.kind === 'expired';
        // It is not what it was, and nothing was done: the next press is another intent.
        if (outcome === 'failed' && intent.isChanged) intents.remove(key);
        else intents.update(key, { outcome, isExpired });
        return { status: outcome, error };
      } finally {
        stay?.();
      }
    },
  };
}
