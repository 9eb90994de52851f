import type { QueryClient } from '@tanstack/react-query';
import { reject } from '../lib/check.ts';
import { createSafeForm, type SafeForm } from './form.ts';

const forms = new WeakMap<QueryClient, Map<string, unknown>>();

/**
 * The form of this name. What is not shown by anybody and not under way begins anew.
 *
 * @throws TypeError when the name is none.
 * @throws Error when the client carries no default options of Steadfetch.
 */
export function openForm<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  name: string,
): SafeForm<TData, TError, TVariables, TOnMutateResult> {
  if (!name || typeof name !== 'string') reject('useSafeSubmit', 'form', name, 'a name');
  const known = forms.get(client) ?? new Map<string, unknown>();
  forms.set(client, known);
  // One name is one form: its types are those of its callers.
  let form = known.get(name) as SafeForm<TData, TError, TVariables, TOnMutateResult> | undefined;
  if (!form) known.set(name, (form = createSafeForm(client, name)));
  else if (form.isIdle()) form.clear();
  return form;
}
