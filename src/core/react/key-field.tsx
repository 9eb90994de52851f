import { type ReactElement, useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { openActionForm, scriptOf } from '../form/action-form.ts';
import { keyField, requireForm, requireState } from '../lib/action-state.ts';
import { inDevelopment } from '../lib/development.ts';

/** The props of {@link KeyField}. */
export interface KeyFieldProps {
  /** The state of the form, or its first. */
  readonly state: { readonly key: string; readonly submission?: string | undefined };
  /** The name of the form. Each form of the site needs its own. */
  readonly form: string;
  /** That of the page's Content-Security-Policy, for the script. @default none */
  readonly nonce?: string | undefined;
}

/**
 * The hidden field with the key of a form that an `idempotentAction` processes. A server renders it with the key of the
 * state, so it works before and without JavaScript. A tab keeps the key of a submission that may have been done, also
 * over a reload. For the time before the page has its JavaScript, the server adds a script of half a kilobyte. Where a
 * policy forbids it, a form that is sent in that time, and again after a reload, is sent under two keys.
 *
 * @example
 * ```tsx
 * import { type ActionState, KeyField } from 'steadfetch/react';
 *
 * export const Checkout = ({ state }: { state: ActionState }) => (
 *   <form method="post">
 *     <KeyField state={state} form="checkout" />
 *     <button>Order</button>
 *   </form>
 * );
 * ```
 */
export function KeyField({ state, form, nonce }: KeyFieldProps): ReactElement {
  inDevelopment(() => {
    requireState('KeyField', 'state', state);
    requireForm('KeyField', form);
  });
  const { key, submission } = state;
  const ref = useRef<HTMLInputElement>(null);
  const value = useSyncExternalStore(
    useSubscribe(form),
    () => openActionForm(form).keyFor(key),
    () => key,
  );
  const isServerRendered = useSyncExternalStore(subscribeToNothing, isNever, isAlways);
  useEffect(() => ref.current?.setAttribute('data-live', ''), []);
  useEffect(() => {
    if (submission !== undefined) openActionForm(form).recordAnswer(submission);
  }, [form, submission]);
  useEffect(() => inDevelopment(() => openActionForm(form).countShown()), [form]);
  // Without the form, the page shows what came of it.
  useEffect(() => openActionForm(form).recordShown, [form]);
  return (
    <>
      <input
        ref={ref}
        type="hidden"
        name={keyField}
        value={value}
        // Browsers fill in again what a page had before its reload, unless they are told not to.
        autoComplete="off"
        // The script may have changed it.
        suppressHydrationWarning
      />
      {isServerRendered && (
        <script
          nonce={nonce}
          dangerouslySetInnerHTML={{ __html: scriptOf(form, submission) }}
          suppressHydrationWarning
        />
      )}
    </>
  );
}

const subscribeToNothing = () => () => {};
const isNever = (): boolean => false;
const isAlways = (): boolean => true;

/** Subscribes to the form of this name. */
export const useSubscribe = (form: string): ((listener: () => void) => () => void) =>
  useCallback((listener: () => void) => openActionForm(form).subscribe(listener), [form]);
