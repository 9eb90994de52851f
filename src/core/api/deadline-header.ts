import type { Attempt } from '../fetch/attempt/attempt.ts';
import type { Extension } from '../fetch/extension.ts';
import { inGivenForm, readHeaders } from '../fetch/init.ts';
import { checkNames, checkValue, reject } from '../lib/input/check.ts';
import { code, type MadeBy } from '../lib/input/made-by.ts';
import { inDevelopment } from '../lib/development.ts';

/** The options of {@link deadlineHeader}. */
export interface DeadlineHeaderOptions {
  /** The unit of the number. @default 'ms' */
  readonly unit?: 'ms' | 's' | undefined;
}

const operation = 'deadlineHeader';

/**
 * Tells the servers of an API how long the client will wait for their answer, so that they can give up in
 * time: `apis: [{ match, deadline: deadlineHeader('X-Request-Timeout') }]`.
 *
 * The value is what is left of the attempt's `timeout` (for its headers) or of the operation's `deadlineMs`,
 * whichever is less: a whole number, rounded up, at least 1. It is measured when the request is sent, so each
 * attempt has its own. Without a limit there is no header, and a header that the request already has stays.
 * Another origin must allow the header in `Access-Control-Allow-Headers`.
 *
 * @param header - The name of the header.
 * @throws TypeError for an invalid header name or option.
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
  inDevelopment(() => checkNames(operation, options, ['unit']));
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    reject(operation, 'header', header, 'the name of a header');
  const isUnit = (unit: unknown): boolean => unit === 'ms' || unit === 's';
  const unit = checkValue(operation, 'unit', options.unit, isUnit, "'ms' or 's'") ?? 'ms';
  // A resend already has the header of the first send, which must be replaced.
  const stamped = new WeakSet<Attempt>();

  const made: Extension & { readonly by: 'deadlineHeader' } = {
    by: operation,
    sign(attempt) {
      const { request, init } = attempt;
      const headers = readHeaders(request.passed, init);
      if (headers.has(header) && !stamped.has(attempt)) return undefined;
      const leftMs = leftOf(attempt);
      if (leftMs === Infinity) return undefined;
      stamped.add(attempt);
      headers.set(header, `${Math.max(1, Math.ceil(unit === 's' ? leftMs / 1000 : leftMs))}`);
      attempt.setHeaders(inGivenForm(init.headers, headers));
      return undefined;
    },
  };
  return { [code]: made };
}

/** How long the client will wait for the answer, in milliseconds. */
function leftOf({ context, request, silence }: Attempt): number {
  return Math.min(silence.headersMs, request.operation.dueAt(request) - context.clock.now());
}
