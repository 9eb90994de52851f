import type { MutationObserverResult } from '@tanstack/react-query';
import type { MutationResult } from './safe-submit.ts';

/** The fields of React Query's result for a submission whose payload could not be read. */
const failed = {
  status: 'error',
  isIdle: false,
  isPending: false,
  isSuccess: false,
  isError: true,
  data: undefined,
} as const;

/** The same while the payload is being read, before the mutation exists. */
const pending = {
  ...failed,
  status: 'pending',
  isPending: true,
  isError: false,
  error: null,
} as const;

/**
 * React Query's result, or the one of a press that has no mutation yet.
 *
 * @param reading - The first press whose payload is being read.
 * @param unread - The latest press, if its payload could not be read.
 */
export function resultOf(
  observed: MutationObserverResult<unknown, Error, unknown>,
  reading: { readonly variables: unknown } | undefined,
  unread: { readonly variables: unknown; readonly error: Error } | undefined,
): MutationResult {
  const { mutate: _, reset: __, ...result } = observed;
  if (result.isPending) return result;
  if (reading) return { ...result, ...pending, ...reading };
  return unread ? { ...result, ...failed, ...unread } : result;
}
