import {
  type DefaultError,
  type QueryClient,
  shouldThrowError,
  type UseMutationOptions,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { requireDefinition } from '../react-query/mutation/definition.ts';
import { openForm } from '../form/form.ts';
import type { SafeForm } from '../form/presses.ts';
import type { Instance } from '../react-query/instance.ts';
import type { SafeSubmitOptions, SafeSubmitResult } from '../form/safe-submit.ts';

/**
 * A form that takes effect once, whatever happens to the network or the page, and however often the user
 * presses Submit. One submission keeps one idempotency key until its outcome is known: across double clicks,
 * mounted copies, retries and reloads.
 *
 * Takes options of `mutationOptions`. `status`, `data` and `error` are React Query's own. `unknown` is a
 * submission that may have taken effect, `confirmation` a question for the user before the next one is sent.
 * `target` is for `useMutationStatus`. While a submission is in progress, the browser asks before the page is
 * left.
 *
 * @param queryClient - The client to read, as in React Query's hooks. @default that of the nearest provider
 * @throws TypeError if the mutationFn is not from `mutationOptions`, or the form has no name.
 *
 * @example
 * ```tsx
 * const { submit, isPending, data, unknown, confirmation } = useSafeSubmit(placeOrder, {
 *   form: 'checkout',
 * });
 * const [sku, setSku] = useState('');
 * return (
 *   <form onSubmit={(event) => { event.preventDefault(); void submit({ sku }); }}>
 *     <input value={sku} onChange={(event) => setSku(event.target.value)} />
 *     <button disabled={isPending}>Order</button>
 *     <p role="status">
 *       {data && 'It is ordered.'}
 *       {unknown && 'It may have been ordered. Press again: you will not get two.'}
 *     </p>
 *     {confirmation && (
 *       <div role="alertdialog" aria-label="The earlier order may have been placed. Order this, too?">
 *         <button type="button" onClick={() => void confirmation.confirm()}>Order this, too</button>
 *         <button type="button" onClick={confirmation.cancel}>Back</button>
 *       </div>
 *     )}
 *   </form>
 * );
 * ```
 */
export function useSafeSubmit<
  TData = unknown,
  TError = DefaultError,
  TVariables = void,
  TOnMutateResult = unknown,
>(
  mutationOptions: UseMutationOptions<TData, TError, TVariables, TOnMutateResult>,
  options: SafeSubmitOptions<TData, TVariables>,
  queryClient?: QueryClient,
): SafeSubmitResult<TData, TError, TVariables, TOnMutateResult> {
  const client = useQueryClient(queryClient);
  // JavaScript lets one leave out the options.
  const { form: name } = Object(options) as typeof options;
  // The mutationFn may come from setMutationDefaults.
  const { mutationFn, throwOnError } = client.defaultMutationOptions(mutationOptions);
  const { instance } = requireDefinition('useSafeSubmit', mutationFn);
  const form = useForm<TData, TError, TVariables, TOnMutateResult>(client, name, instance);
  useEffect(() => form.setOptions({ ...options, mutation: mutationOptions }));
  const result = useSyncExternalStore(form.subscribe, form.getState, form.getServerState);
  const error: unknown = result.error;
  if (result.error && shouldThrowError(throwOnError, [result.error])) throw error;
  return result;
}

/**
 * The form of this name; its instance is that of the client, or else of the mutation. A hook of its own, because React
 * Compiler preserves a memo by arguments, but not one by a part of the options.
 */
function useForm<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  name: string,
  instance: Instance,
): SafeForm<TData, TError, TVariables, TOnMutateResult> {
  return useMemo(() => openForm(client, name, instance), [client, name, instance]);
}
