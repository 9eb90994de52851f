import type { DefaultError, UseMutationOptions } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useRef, useState } from 'react';
import type { SafeSubmitOptions, SafeSubmitResult } from '../form/safe-submit.ts';
import { systemClock } from '../lib/clock.ts';
import { useSafeSubmit } from '../react/use-safe-submit.ts';
import { useMutationStatus } from '../react/use-status.ts';
import type { RetryControls, RetryState } from '../react-query/status/status.ts';
import { Action, Countdown, Frame, Group, Told, useNews, usePress } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';
import { formWordsOf, type StatusWords, useTold } from './texts/words.ts';

/**
 * A press so soon after a success is the second half of a double click, or an Enter that is held down: the
 * success stays to be seen, or the form would be sent once more.
 */
const echoMs = 1000;

/** What a render prop of `SafeForm` is given. */
export interface SafeFormView<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
> extends StatusWords {
  readonly state: RetryState & RetryControls;
  readonly form: SafeSubmitResult<TData, TError, TVariables>;
}

/** What a form sends, and what is in it. */
export interface SafeFormProps<TData, TError, TVariables> extends SafeSubmitOptions<
  TData,
  TVariables
> {
  /** That of `mutationOptions`. */
  readonly mutation: UseMutationOptions<TData, TError, TVariables>;
  /** What a press of Submit sends, from the fields or from the app's own state. */
  readonly variables: (fields: FormData) => TVariables;
  /** The text of its button. @default that of the texts */
  readonly submitLabel?: string | undefined;
  /** The name of the form, for who cannot see it. */
  readonly label?: string | undefined;
  /** The fields. As a function, it is given how the form is doing. */
  readonly children: ReactNode | ((view: SafeFormView<TData, TError, TVariables>) => ReactNode);
}

/**
 * A form whose submission is done once, with its button, how it is doing, and the question that an unknown
 * outcome asks. After a success the next press makes it a new form, so that a second press by mistake sends
 * nothing.
 *
 * @throws TypeError when its mutation is not that of `mutationOptions`, or `form` is no name.
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
  const told = useTold(words, state, texts);
  const isSending = state.status === 'sending';
  const [isPressed, press] = usePress(isSending);
  const isEnd = state.status === 'failed' || state.status === 'unknown';
  const isByItself = isSending && state.attempt > 1 && !isPressed && !confirmation && !isBusy;
  const news = useNews(
    { text: confirmation ? texts.form.question : told, isAlert: isEnd && !confirmation },
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
        {confirmation && (
          <Group
            className="steadfetch-question"
            label={texts.form.question}
            onEscape={confirmation.cancel}
          >
            <p className="steadfetch-title">{texts.form.question}</p>
            <p className="steadfetch-detail">
              {confirmation.reason === 'edited-after-unknown'
                ? texts.form.edited
                : texts.form.twice}
            </p>
            <div className="steadfetch-actions">
              <Action label={texts.form.back} onPress={confirmation.cancel} isFirst />
              <Action label={texts.form.confirm} onPress={confirmation.confirm} />
            </div>
          </Group>
        )}
        <Told {...news} />
      </Frame>
    </form>
  );
}
