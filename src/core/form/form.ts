import type { QueryClient } from '@tanstack/react-query';
import { reject } from '../lib/input/check.ts';
import type { Instance } from '../react-query/instance.ts';
import { Form } from './presses.ts';
import type { FormOptions, SafeSubmitResult } from './safe-submit.ts';

/** A form, as its hook uses it. */
export interface SafeForm<TData, TError, TVariables, TOnMutateResult> {
  readonly setOptions: (options: FormOptions<TData, TError, TVariables, TOnMutateResult>) => void;
  readonly subscribe: (listener: () => void) => () => void;
  readonly getState: () => SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
  /** The state before hydration, when nothing of the tab is known. */
  readonly getServerState: () => SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
}

const forms = new WeakMap<QueryClient, Map<string, Form>>();

/**
 * The form of this name. A form that is not mounted and not under way begins anew.
 *
 * @param other - The instance of its mutation, for a client without our default options.
 * @throws TypeError for an empty name.
 * @throws Error without any instance.
 */
export function openForm<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  name: string,
  other?: Instance,
): SafeForm<TData, TError, TVariables, TOnMutateResult> {
  if (!name || typeof name !== 'string') reject('useSafeSubmit', 'form', name, 'a name');
  const known = forms.get(client) ?? new Map<string, Form>();
  forms.set(client, known);
  let form = known.get(name);
  if (!form) known.set(name, (form = new Form(client, name, other)));
  else if (form.isIdle()) form.clear();
  // One name is one form: its types are those of its callers.
  return form as unknown as SafeForm<TData, TError, TVariables, TOnMutateResult>;
}

/** Forgets the forms of a client, with all that they show and have sent. */
export function forgetForms(client: QueryClient): void {
  forms.delete(client);
}
