import { type FormEvent, startTransition, useState, useSyncExternalStore } from 'react';
import { openActionForm, type SendActionOptions } from '../form/action-form.ts';
import { type ActionState, requireForm, requireState } from '../lib/action-state.ts';
import { inDevelopment } from '../lib/development.ts';
import { isFunction, reject } from '../lib/input/check.ts';
import { useSubscribe } from './key-field.tsx';
import { useActionState } from './use-action-state.ts';

/** The result of {@link useSafeAction}. */
export interface SafeAction<TState> {
  /** The state of the form: the answer of the action, or `unknown`. */
  readonly state: TState;
  readonly isPending: boolean;
  /** For the form element: `<form {...formProps}>`. */
  readonly formProps: {
    readonly action: (fields: FormData) => void;
    readonly onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  };
}

/**
 * A form over `useActionState`, for an action made by `idempotentAction`. Before and without JavaScript the browser
 * sends it. With JavaScript a double click is one submission, an answer that is lost does not lead to the error
 * boundary, and the same is sent again under the same key: up to three times by itself, then with the next press, also
 * after a reload. The fields keep what was typed, until it is done.
 *
 * @param initialState - From `createActionState`, on the server.
 * @throws Error before React 19, which has no `useActionState`.
 *
 * @example
 * ```tsx
 * 'use client';
 * import type { ActionState } from 'steadfetch/server';
 * import { KeyField, useSafeAction } from 'steadfetch/react';
 *
 * // From a file with 'use server'.
 * declare const placeOrder: (
 *   previous: unknown,
 *   fields: FormData,
 * ) => Promise<ActionState<{ id: number }>>;
 *
 * export function Checkout({ first }: { first: ActionState<never> }) {
 *   const { state, isPending, formProps } = useSafeAction(placeOrder, first, { form: 'checkout' });
 *   return (
 *     <form {...formProps}>
 *       <KeyField state={state} form="checkout" />
 *       <input name="article" aria-label="Article" required />
 *       <button aria-disabled={isPending}>Order</button>
 *       <p role="status">
 *         {state.status === 'succeeded' && `Ordered. Your number is ${state.data.id}.`}
 *         {state.status === 'unknown' && 'It may have been ordered. Press again: you will not get two.'}
 *         {state.status === 'needs-confirmation' &&
 *           'You have sent another order with this form before. Press again to order this, too.'}
 *       </p>
 *     </form>
 *   );
 * }
 * ```
 */
export function useSafeAction<TState extends ActionState<unknown, unknown>>(
  action: (previous: TState, fields: FormData) => Promise<TState>,
  initialState: ActionState<never> | TState,
  { form }: { readonly form: string },
): SafeAction<TState> {
  inDevelopment(() => {
    const operation = 'useSafeAction';
    if (!isFunction(action)) reject(operation, 'action', action, 'a function');
    requireState(operation, 'initialState', initialState);
    requireForm(operation, form);
  });
  const first = initialState as Awaited<TState>;
  const [answer, formAction, isSentByReact] = useActionState<TState, FormData>(action, first);
  const [sending, setSending] = useState(0);
  const [own, setOwn] = useState<Ended<TState>>();
  const isOwn = own?.after === answer;
  // As React does with what an action throws: for the error boundary, or the framework's own.
  if (isOwn && own.kind === 'thrown') throw own.thrown;
  const known = isOwn && own.kind === 'answered' ? own.state : answer;
  const unknownKey = useSyncExternalStore(
    useSubscribe(form),
    () => openActionForm(form).unknownKey(),
    () => undefined,
  );
  const isUnknown = known.status === 'idle' && unknownKey !== undefined;
  const unknown: ActionState = { status: 'unknown', key: unknownKey ?? '', fields: {} };
  const state = isUnknown ? (unknown as TState) : known;
  const isPending = sending > 0 || isSentByReact;

  const onSubmit = (event: FormEvent<HTMLFormElement>): void => {
    const { currentTarget: element, nativeEvent } = event;
    const { submitter } = nativeEvent as SubmitEvent;
    // Of a dialog in a portal, which React bubbles, or for the action of the button.
    const isOther = event.target !== element || submitter?.hasAttribute('formaction');
    if (event.defaultPrevented || isOther) return;
    event.preventDefault();
    const fields = new FormData(element, submitter);
    let isTyped = false;
    const onInput = (): void => void (isTyped = true);
    element.addEventListener('input', onInput);
    const { call, isCalled } = inTransition((sent: FormData) => action(state, sent));
    const actionForm = openActionForm(form);
    const promise = actionForm.send(fields, call, {}, reload);
    // The second half of a double click belongs to the transition of the first.
    if (!isPending)
      startTransition(() => Promise.race([isCalled, promise.then(doNothing, doNothing)]));
    void (async () => {
      setSending((count) => count + 1);
      try {
        const next = await promise;
        // Text that was typed meanwhile stays.
        if (next.status === 'succeeded' && !isTyped) {
          element.reset();
          // The app may have taken the button away meanwhile.
          void actionForm.recordReset(
            new FormData(element, element.contains(submitter) ? submitter : null),
          );
        }
        setOwn({ kind: 'answered', state: next, after: answer });
      } catch (thrown) {
        setOwn({ kind: 'thrown', thrown, after: answer });
      }
      element.removeEventListener('input', onInput);
      setSending((count) => count - 1);
    })();
  };
  return { state, isPending, formProps: { action: formAction, onSubmit } };
}

/** How the latest submission has ended; `after`: the state that React had then. */
type Ended<TState> = { readonly after: TState } & (
  | { readonly kind: 'answered'; readonly state: TState }
  | { readonly kind: 'thrown'; readonly thrown: unknown }
);

/** A call without an answer holds back all later ones of Next.js. The next page has the key. */
const reload = (): void => globalThis.location.reload();

const doNothing = (): void => {};

/**
 * Makes each call a transition, by which `useFormStatus`, and `useOptimistic` in the action, know it. `isCalled` resolves
 * at the end of the first: the transition of the form lasts no longer, because it holds back all others of the page.
 */
function inTransition<TState>(action: (fields: FormData) => Promise<TState>) {
  let end = doNothing;
  const isCalled = new Promise<void>((resolve) => (end = resolve));
  const call = (fields: FormData): Promise<TState> =>
    new Promise((answered, failed) => {
      startTransition(async () => {
        try {
          answered(await action(fields));
        } catch (thrown) {
          failed(thrown);
        }
        end();
      });
    });
  return { call, isCalled };
}

/**
 * Sends a form to an action made by `idempotentAction`, where a framework sends its forms itself: in the
 * `clientAction` of React Router. A double click is one submission, and an answer that is lost gives the state
 * `unknown`. The next press is sent under the same key, also after a reload.
 *
 * @param form - The name of the form: that of its `KeyField`.
 * @throws what the call has thrown on purpose, such as a redirect.
 *
 * @example
 * ```ts
 * import type { ActionState } from 'steadfetch/server';
 * import { sendAction } from 'steadfetch/react';
 *
 * export async function clientAction({
 *   request,
 *   serverAction,
 * }: {
 *   request: Request;
 *   serverAction: () => Promise<ActionState<{ id: number }>>;
 * }) {
 *   const fields = await request.clone().formData();
 *   return sendAction('checkout', fields, serverAction, { maxRetries: 0 });
 * }
 * ```
 */
export function sendAction<TState extends ActionState<unknown, unknown>>(
  form: string,
  fields: FormData,
  call: (fields: FormData) => Promise<TState>,
  options?: SendActionOptions,
): Promise<TState> {
  inDevelopment(() => requireForm('sendAction', form));
  return openActionForm(form).send(fields, call, options);
}
