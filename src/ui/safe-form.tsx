import type { DefaultError, UseMutationOptions } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useRef, useState } from 'react';
import type {
  Confirmation,
  RetryControls,
  RetryState,
  SafeSubmitOptions,
  SafeSubmitResult,
} from '../core/internal.ts';
import { systemClock } from '../core/lib/clock.ts';
import { useSafeSubmit } from '../core/react/use-safe-submit.ts';
import { useMutationStatus } from '../core/react/use-status.ts';
import { Action, Countdown, Frame, Group, Announcement, useNews, usePress } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';
import { formWordsOf, type StatusWords, useAnnounced } from './texts/words.ts';

/**
 * A press within this time after a success is the second half of a double click, or a held Enter key: it must
 * neither hide the success nor send the form again.
 */
const echoMs = 1000;

/** The argument of a `SafeForm` render prop. */
export interface SafeFormView<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
> extends StatusWords {
  readonly state: RetryState & RetryControls;
  readonly form: SafeSubmitResult<TData, TError, TVariables>;
}

/** The props of {@link SafeForm}. */
export interface SafeFormProps<TData, TError, TVariables> extends SafeSubmitOptions<
  TData,
  TVariables
> {
  /** The options from `mutationOptions`. */
  readonly mutation: UseMutationOptions<TData, TError, TVariables>;
  /** Reads the variables of a submission, from the fields or from the app's own state. */
  readonly variables: (fields: FormData) => TVariables;
  /** The text of the submit button. @default `form.submit` of the texts */
  readonly submitLabel?: string | undefined;
  /** The accessible name of the form. */
  readonly label?: string | undefined;
  /** The fields. A function receives the state of the form. */
  readonly children: ReactNode | ((view: SafeFormView<TData, TError, TVariables>) => ReactNode);
}

/**
 * A form whose submission takes effect once, with its button, its status, and the question that an unknown
 * outcome asks. After a success the next press starts a new form, so an accidental second press sends
 * nothing.
 *
 * @throws TypeError if `mutation` is not from `mutationOptions`, or `form` is not a name.
 *
 * @example
 * ```tsx
 * import { createSteadfetch, mutationOptions, profiles } from 'steadfetch';
 * import { SafeForm } from 'steadfetch/ui';
 *
 * const steady = createSteadfetch({ apis: [{ match: '/api/', idempotency: profiles.draft }] });
 * const placeOrder = mutationOptions(steady, {
 *   mutationFn: (order: { sku: string }, { json }) =>
 *     json<{ id: string }>('/api/orders', { json: order }),
 * });
 *
 * export const Checkout = () => (
 *   <SafeForm
 *     form="checkout"
 *     mutation={placeOrder}
 *     submitLabel="Order"
 *     variables={(fields) => ({ sku: fields.get('sku') as string })}
 *   >
 *     <label>
 *       Article <input name="sku" required />
 *     </label>
 *   </SafeForm>
 * );
 * ```
 */
export function SafeForm<TData = unknown, TError = DefaultError, TVariables = void>({
  mutation,
  variables,
  submitLabel,
  label,
  children,
  ...options
}: SafeFormProps<TData, TError, TVariables>): ReactElement {
  const texts = useTexts();
  const submitText = submitLabel ?? texts.form.submit;
  const form = useSafeSubmit(mutation, options);
  const { submit, reset, isPending, isSuccess, confirmation, target } = form;
  const state = useMutationStatus(target);
  const [isBusy, setIsBusy] = useState(false);
  const words = formWordsOf(state, form.unknown, isBusy && isPending, submitText, texts);
  const announced = useAnnounced(words, state, texts);
  const isSending = state.status === 'sending';
  const [isPressed, press] = usePress(isSending);
  const isEnd = state.status === 'failed' || state.status === 'unknown';
  const isByItself = isSending && state.attempt > 1 && !isPressed && !confirmation && !isBusy;
  const news = useNews(
    { text: confirmation ? texts.form.question : announced, isAlert: isEnd && !confirmation },
    isByItself,
  );
  const onRetry = (): void => {
    press();
    state.retryNow();
  };
  const isWaiting = isPending && (state.status === 'waiting' || state.status === 'paused');
  const isEcho = useRef(false);
  const onSubmit = async (fields: FormData): Promise<void> => {
    if (isSuccess) return isEcho.current ? undefined : reset();
    setIsBusy(false);
    const result = await submit(variables(fields));
    if (result.status === 'succeeded') {
      isEcho.current = true;
      systemClock.setTimeout(() => (isEcho.current = false), echoMs);
    }
    setIsBusy(result.status === 'busy');
  };
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit(new FormData(event.currentTarget));
      }}
    >
      {typeof children === 'function' ? children({ ...words, state, form }) : children}
      <Frame className="steadfetch-form" state={state.status}>
        {words.title && <p className="steadfetch-title">{words.title}</p>}
        {words.detail && <p className="steadfetch-detail">{words.detail}</p>}
        {isWaiting && <Countdown retryAt={state.retryAt} label={texts.nextAttemptIn} />}
        <div className="steadfetch-actions">
          <button
            type="submit"
            className="steadfetch-button"
            data-primary={!isWaiting || undefined}
            aria-disabled={isPending || undefined}
          >
            {isSuccess ? texts.form.another : submitText}
          </button>
          {isWaiting && <Action label={texts.retryNow} onPress={onRetry} isPrimary />}
          {isPending && <Action label={texts.cancel} onPress={state.cancel} />}
        </div>
        {confirmation && <Question confirmation={confirmation} />}
        <Announcement {...news} />
      </Frame>
    </form>
  );
}

/** The question before a submission that may repeat an earlier one. */
function Question({
  confirmation,
}: {
  readonly confirmation: Pick<Confirmation, 'reason' | 'cancel'> & {
    readonly confirm: () => unknown;
  };
}): ReactElement {
  const { form: texts } = useTexts();
  return (
    <Group className="steadfetch-question" label={texts.question} onEscape={confirmation.cancel}>
      <p className="steadfetch-title">{texts.question}</p>
      <p className="steadfetch-detail">
        {confirmation.reason === 'edited-after-unknown' ? texts.edited : texts.twice}
      </p>
      <div className="steadfetch-actions">
        <Action label={texts.back} onPress={confirmation.cancel} isFirst />
        <Action label={texts.confirm} onPress={confirmation.confirm} />
      </div>
    </Group>
  );
}
