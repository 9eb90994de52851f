import type { QueryClient } from '@tanstack/react-query';
import { reject } from '../lib/input/check.ts';
import type { Instance } from '../react-query/instance.ts';
import { Form, type SafeForm } from './presses.ts';

const forms = new WeakMap<QueryClient, Map<string, Form>>();

/**
 * Opens the form of this name for a component. A form that is not mounted and not under way begins anew.
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
  return form.open() as unknown as SafeForm<TData, TError, TVariables, TOnMutateResult>;
}

/** Forgets the forms of a client, with all that they show and have sent. */
export function forgetForms(client: QueryClient): void {
  forms.delete(client);
}
