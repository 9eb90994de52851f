import type { Attempt } from '../fetch/attempt/attempt.ts';
import type { Extension } from '../fetch/extension.ts';
import { readHeaders } from '../fetch/init.ts';
import { checkNames, checkValue, reject } from '../lib/input/check.ts';
import { code, type MadeBy } from '../lib/input/made-by.ts';

/** How the time that is left is said. */
export interface DeadlineHeaderOptions {
  /** The unit of the number. @default 'ms' */
  readonly unit?: 'ms' | 's' | undefined;
}

const operation = 'deadlineHeader';

/**
 * Tells the servers of an API how long their answer is waited for:
 * `apis: [{ match, deadline: deadlineHeader('X-Request-Timeout') }]`. They need not finish what nobody
 * waits for any more.
 *
 * It is what is left of the attempt's `timeout` (of its headers) or of the operation's `deadlineMs`,
 * whichever is less, as a whole number, rounded up, and at least 1. It is measured when the request goes
 * out, so each attempt has its own. Without a limit there is no header, and one that the request has
 * already stays. Another origin must allow the header: `Access-Control-Allow-Headers`.
 *
 * @param header - Its name.
 * @throws TypeError when the name is none of a header, or an option is not as it must be.
 *
 * @example
 * ```ts
 * import { createSteadfetch, deadlineHeader } from 'steadfetch';
 *
 * export const steadyInTime = createSteadfetch({
 *   apis: [{ match: '/api', deadline: deadlineHeader('X-Request-Timeout', { unit: 's' }) }],
 * });
 * ```
 */
export function deadlineHeader(
  header: string,
  options: DeadlineHeaderOptions = {},
): MadeBy<'deadlineHeader'> {
  if (process.env.NODE_ENV !== 'production') checkNames(operation, options, ['unit']);
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    reject(operation, 'header', header, 'the name of a header');
  const isUnit = (unit: unknown): boolean => unit === 'ms' || unit === 's';
  const unit = checkValue(operation, 'unit', options.unit, isUnit, "'ms' or 's'") ?? 'ms';
  // What is sent again has the header of its first sending.
  const stamped = new WeakSet<Attempt>();

  const made: Extension & { readonly by: 'deadlineHeader' } = {
    by: operation,
    sign(attempt) {
      const { request, init } = attempt;
      const headers = readHeaders(request.input, init);
      if (headers.has(header) && !stamped.has(attempt)) return undefined;
      const leftMs = leftOf(attempt);
      if (leftMs === Infinity) return undefined;
      stamped.add(attempt);
      headers.set(header, `${Math.max(1, Math.ceil(unit === 's' ? leftMs / 1000 : leftMs))}`);
      attempt.setHeaders(headers);
      return undefined;
    },
  };
  return { [code]: made };
}

/** How long the answer to a request is waited for, in milliseconds. */
function leftOf({ context, request, limitMs }: Attempt): number {
  const { operation: own } = request;
  const { startedAt, progressedAt = startedAt, pausedMs } = own.view(request);
  const dueAt = progressedAt + pausedMs + own.policyOf(request).deadlineMs;
  return Math.min(limitMs, dueAt - context.clock.now());
}
