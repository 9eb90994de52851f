import { type QueryClient, notifyManager } from '@tanstack/react-query';
import { createSubmissions } from './submission.ts';
import { createTabStorage } from './tab-storage.ts';
import { createFormObserver } from './send.ts';
import { createFormPresses } from './presses.ts';
import { createFormUnknown } from './unknown-outcome.ts';
import type { Instance } from '../react-query/instance.ts';
import { mutationStatusesOf } from '../react-query/status/mutation.ts';
import type { FormOptions, SafeSubmitResult, UnknownSubmission } from './safe-submit.ts';
import { reject } from '../lib/input/check.ts';

/** A form of one QueryClient: all its mounted copies show this one. */
export interface SafeForm<TData, TError, TVariables, TOnMutateResult> {
  readonly setOptions: (options: FormOptions<TData, TError, TVariables, TOnMutateResult>) => void;
  readonly subscribe: (listener: () => void) => () => void;
  readonly getState: () => SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
  /** What can be known before the page has come to life: nothing of the tab. */
  readonly getServerState: () => SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
  /** Nobody shows it, and nothing is under way. */
  readonly isIdle: () => boolean;
  /** Shows nothing of what has been, except what may have been done. */
  readonly clear: () => void;
}

const forms = new WeakMap<QueryClient, Map<string, unknown>>();

/**
 * The form of this name. What is not shown by anybody and not under way begins anew.
 *
 * @param other - The instance of its mutation, for a client without our default options.
 * @throws TypeError when the name is none.
 */
export function openForm<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  name: string,
  other: Instance,
): SafeForm<TData, TError, TVariables, TOnMutateResult> {
  if (!name || typeof name !== 'string') reject('useSafeSubmit', 'form', name, 'a name');
  const known = forms.get(client) ?? new Map<string, unknown>();
  forms.set(client, known);
  // One name is one form: its types are those of its callers.
  let form = known.get(name) as SafeForm<TData, TError, TVariables, TOnMutateResult> | undefined;
  if (!form) known.set(name, (form = createSafeForm(client, name, other)));
  else if (form.isIdle()) form.clear();
  return form;
}

/** Forgets the forms of a client, with what they show and what they have sent. */
export function forgetForms(client: QueryClient): void {
  forms.delete(client);
}

/** What React Query shows of a mutation that failed, for one that could not begin. */
const failed = {
  status: 'error',
  isIdle: false,
  isPending: false,
  isSuccess: false,
  isError: true,
  data: undefined,
} as const;

/** What React Query shows of a mutation under way, for one that is about to be. */
const pending = {
  status: 'pending',
  isIdle: false,
  isPending: true,
  isSuccess: false,
  isError: false,
  data: undefined,
  error: null,
} as const;

function createSafeForm<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  form: string,
  other: Instance,
): SafeForm<TData, TError, TVariables, TOnMutateResult> {
  type State = SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;

  const submissions = createSubmissions(createTabStorage(), form);
  const statuses = mutationStatusesOf(client, 'useSafeSubmit');
  const instance = statuses.instance ?? other;
  const listeners = new Set<() => void>();
  const target = { mutation: `form ${form}` };
  const noTarget = { mutation: '' };

  let options: FormOptions<TData, TError, TVariables, TOnMutateResult> | undefined;
  let state: State | undefined;
  const changed = (): void => {
    state = undefined;
    // With React Query's own notifications, so that both are rendered together.
    for (const listener of listeners) notifyManager.schedule(listener);
  };
  const observer = createFormObserver<TData, TError, TVariables, TOnMutateResult>(
    client,
    instance,
    target.mutation,
    changed,
  );
  const context = {
    instance,
    statuses,
    submissions,
    observer,
    target,
    options: () => options,
    changed,
  };
  const presses = createFormPresses(context);
  const findUnknown = createFormUnknown(client, context, presses);
  const isBusy = (): boolean => presses.isUnderWay() || presses.reading.size > 0;

  const clear = (): void => {
    presses.clear();
    observer.reset();
    changed();
  };
  const reset: State['reset'] = ({ forgetUnknown = false } = {}) => {
    if (isBusy()) return;
    const known = submissions.read();
    if (known && forgetUnknown) submissions.remove(known.key);
    presses.forgetEnd();
    clear();
  };

  const show = (unknown: UnknownSubmission<TVariables> | undefined): State => {
    const { mutate: _, reset: __, ...result } = observer.getResult();
    const { press: submit, reading, unread, confirmation } = presses;
    const [one] = reading;
    // As it will be in a moment, once the payload is read.
    const early = one && !result.isPending && { ...result, ...pending, ...one };
    const late = unread && !result.isPending && { ...result, ...failed, ...unread };
    const shown = { ...(early || late || result), submit, reset, unknown, confirmation };
    return { ...shown, target: result.isIdle ? noTarget : target };
  };
  const serverState = show(undefined);

  return {
    setOptions(next) {
      options = next;
      observer.setOptions(next.mutation);
    },
    subscribe(listener) {
      // What another page of this tab has done shows when this one comes back as it was.
      if (listeners.size === 0) globalThis.addEventListener?.('pageshow', changed);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) globalThis.removeEventListener?.('pageshow', changed);
      };
    },
    getState: () => (state ??= show(findUnknown())),
    getServerState: () => serverState,
    isIdle: () => listeners.size === 0 && !isBusy(),
    clear,
  };
}
