import type { SteadyRequest } from '../fetch/request.ts';
import { warn } from '../lib/input/warn.ts';
import type { Operations } from '../operation/operations.ts';

const nameOf = ({ method, url }: SteadyRequest): string =>
  `${method} ${url}`.replace(/[?#].*/s, '');

/** Development only: an attempt was given another body than the first. */
export function warnOfChange(operations: Operations, request: SteadyRequest): void {
  const name = nameOf(request);
  warn(
    operations,
    `bytes ${name}`,
    `${name}: this attempt was given another body than the first. One key has one payload, so the first ` +
      `is sent again. Make what changes (a time, a random number) before the mutation, not within it.`,
    'idempotency.md#bytes',
  );
}

/** Development only: a write without a key was sent while a mutationFn ran. */
export function warnOfStray(operations: Operations, request: SteadyRequest): void {
  const name = nameOf(request);
  warn(
    operations,
    `stray ${name}`,
    `${name} was sent by the instance while a mutationFn ran, and without an idempotency key. If it is ` +
      `part of that mutation, send it with the fetch or json of the mutationFn's context, also after an ` +
      `await: only these give it the key that makes it safe to send again. Another client is given its ` +
      `rawFetch as fetch, or is linked where it is made: linkClient(steady, client).`,
    'clients.md',
  );
}

/** Development only: the first request with a key was answered 409, so hardly another one with it is running. */
export function warnOfConflict(operations: Operations, request: SteadyRequest): void {
  const name = nameOf(request);
  warn(
    operations,
    `conflict ${name}`,
    `${name} was answered 409, though nothing was sent with its idempotency key before. It is taken for "the first ` +
      `request is still running", sent again, and unknown in the end. If it is a conflict of the API's own, such as ` +
      `an e-mail address that is taken, say which 409 is none: idempotency: defineIdempotency({ ...profiles.draft, ` +
      `inProgress: (response) => response.headers.has('retry-after') }).`,
    'idempotency.md#anti-patterns',
  );
}
