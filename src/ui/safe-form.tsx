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
import { inDevelopment } from '../core/lib/development.ts';
import { isFunction, reject } from '../core/lib/input/check.ts';
import { useSafeSubmit } from '../core/react/use-safe-submit.ts';
import { useMutationStatus } from '../core/react/use-status.ts';
import { Action, Announcement, Frame, Group, useNews, usePress, Words } from './parts.tsx';
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
  TOnMutateResult = unknown,
> extends StatusWords {
  readonly state: RetryState & RetryControls;
  readonly form: SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
}

/** The props of {@link SafeForm}. */
export interface SafeFormProps<
  TData,
  TError,
  TVariables,
  TOnMutateResult = unknown,
> extends SafeSubmitOptions<TData, TVariables> {
  /** The options from `mutationOptions`. */
  readonly mutation: UseMutationOptions<TData, TError, TVariables, TOnMutateResult>;
  /** Reads the variables of a submission, from the fields or from the app's own state. */
  readonly variables: (fields: FormData) => TVariables;
  /** The text of the submit button. @default `form.submit` of the texts */
  readonly submitLabel?: string | undefined;
  /** The accessible name of the form. */
  readonly label?: string | undefined;
  /** The fields. A function receives the state of the form. */
  readonly children:
    | ReactNode
    | ((view: SafeFormView<TData, TError, TVariables, TOnMutateResult>) => ReactNode);
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
export function SafeForm<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
>({
  mutation,
  variables,
  submitLabel,
  label,
  children,
  ...options
}: SafeFormProps<TData, TError, TVariables, TOnMutateResult>): ReactElement {
  inDevelopment(() => {
    if (!isFunction(variables))
      reject('SafeForm', 'variables', variables, 'a function of the fields');
  });
  const texts = useTexts();
  const submitText = submitLabel ?? texts.form.submit;
  const form = useSafeSubmit(mutation, options);
  const { confirmation } = form;
  const state = useMutationStatus(form.target);
  const { isBusy, onSubmit } = useOnSubmit(form, variables);
  const words = formWordsOf(state, form.unknown, isBusy && form.isPending, submitText, texts);
  const announced = useAnnounced(words, state, texts);
  const isSending = state.status === 'sending';
  const [isPressed, pressing] = usePress(isSending);
  const isEnd = state.status === 'failed' || state.status === 'unknown';
  const isByItself = isSending && state.attempt > 1 && !isPressed && !confirmation && !isBusy;
  const news = useNews(
    { text: confirmation ? texts.form.question : announced, isAlert: isEnd && !confirmation },
    isByItself,
  );
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        const { currentTarget: element, nativeEvent } = event;
        // Of a dialog in a portal within it, which React bubbles.
        if (event.target !== element) return;
        event.preventDefault();
        void onSubmit(new FormData(element, nativeEvent.submitter));
      }}
    >
      {typeof children === 'function' ? children({ ...words, state, form }) : children}
      <Frame className="steadfetch-form" state={state.status}>
        <FormStatus
          {...state}
          {...words}
          isPending={form.isPending}
          isSuccess={form.isSuccess}
          retryNow={pressing(state.retryNow)}
          submitText={submitText}
        />
        {confirmation && <Question confirmation={confirmation} />}
        <Announcement {...news} />
      </Frame>
    </form>
  );
}

/** Submits the form or, after a success, starts a new one. `isBusy`: the latest press came during a submission. */
function useOnSubmit<TData, TError, TVariables>(
  { submit, reset, isSuccess }: SafeSubmitResult<TData, TError, TVariables>,
  variables: (fields: FormData) => TVariables,
): { readonly isBusy: boolean; readonly onSubmit: (fields: FormData) => Promise<void> } {
  const [isBusy, setIsBusy] = useState(false);
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
  return { isBusy, onSubmit };
}

interface FormStatusProps extends RetryState, RetryControls, StatusWords {
  readonly isPending: boolean;
  readonly isSuccess: boolean;
  readonly submitText: string;
}

function FormStatus({ isPending, isSuccess, submitText, ...view }: FormStatusProps): ReactElement {
  const { status, retryAt, retryNow, cancel } = view;
  const texts = useTexts();
  const isWaiting = isPending && (status === 'waiting' || status === 'paused');
  return (
    <Words
      {...view}
      retryAt={isWaiting ? retryAt : undefined}
      onRetry={isWaiting ? retryNow : undefined}
      onCancel={isPending ? cancel : undefined}
    >
      <button
        type="submit"
        className="steadfetch-button"
        data-primary={!isWaiting || undefined}
        aria-disabled={isPending || undefined}
      >
        {isSuccess ? texts.form.another : submitText}
      </button>
    </Words>
  );
}

interface QuestionOf extends Pick<Confirmation, 'reason' | 'cancel'> {
  readonly confirm: () => unknown;
}

/** The question before a submission that may repeat an earlier one. */
function Question({ confirmation }: { readonly confirmation: QuestionOf }): ReactElement {
  const { form: texts } = useTexts();
  const { reason, cancel, confirm } = confirmation;
  const isEdited = reason === 'edited-after-unknown';
  return (
    <Group className="steadfetch-question" label={texts.question} onEscape={cancel}>
      <Words title={texts.question} detail={isEdited ? texts.edited : texts.twice}>
        <Action label={texts.back} onPress={cancel} isFirst />
        <Action label={texts.confirm} onPress={confirm} />
      </Words>
    </Group>
  );
}
