import { reject } from '../lib/check.ts';
import type { KeyForm } from '../idempotency/key.ts';
import type { MadeBy } from '../lib/made-by.ts';

/** What an API is declared to do about idempotency keys: the part that does not depend on where it takes them. */
export interface IdempotencyRules {
  /** The most characters that a key may have. A UUID that is too long goes without its dashes: 32. @default Infinity */
  readonly maxLength?: number | undefined;
  /**
   * How long the API remembers a key, in milliseconds. An older one is never sent again by itself: it
   * would be a new order. @default Infinity
   */
  readonly lifetimeMs?: number | undefined;
  /**
   * Whether this 409 means that the first request with the key is still running: then it is waited
   * for, with the same key and the same bytes. @default every 409, as in draft-ietf-httpapi-idempotency-key-header
   */
  readonly inProgress?: ((response: Response) => boolean) | undefined;
  /**
   * Whether this answer outside 2xx means that the first request with the key was done. Then
   * `steady.fetch` resolves with it. It is given a copy, whose body it may read. @default none does
   */
  readonly alreadyDone?: ((response: Response) => boolean | Promise<boolean>) | undefined;
  /**
   * Whether the API says that sending it again is worth it, where it says so; it counts for more than
   * the status. @default `Idempotent-Replayed: true` says no: that failure is stored under the key
   */
  readonly shouldRetry?: ((response: Response) => boolean | undefined) | undefined;
}

/** An API that takes its keys in a header. */
export interface HeaderIdempotency extends IdempotencyRules {
  /** The request header that carries the key. A request with it is sent again with the same key. */
  readonly header: string;
  /** How the header is written: `structured` is in quotes (RFC 9651), as the draft wants it. @default structured */
  readonly format?: KeyForm['format'];
  readonly body?: undefined;
}

/** An API that takes its keys in its JSON bodies. */
export interface BodyIdempotency extends IdempotencyRules {
  /** The field of the JSON object that carries the key; the body must be given as text. */
  readonly body: string;
  readonly header?: undefined;
  readonly format?: undefined;
}

/** What an API is declared to do about idempotency keys. */
export type IdempotencyDeclaration = HeaderIdempotency | BodyIdempotency;

/** A declaration with the code of keys: one of `profiles`, or made by `defineIdempotency`. */
export type IdempotencyProfile = IdempotencyDeclaration & MadeBy<'defineIdempotency'>;

/** @throws TypeError when a profile is not as it must be. */
export function checkIdempotency(operation: string, profile: IdempotencyDeclaration): void {
  const { header, body, format = 'raw' } = profile;
  const refuse = (option: keyof IdempotencyDeclaration, allowed: string): never =>
    reject(operation, option, profile[option], allowed);
  if (body === undefined) {
    if (typeof header !== 'string' || !/^[\w-]+$/.test(header))
      refuse('header', 'the name of a header');
  } else {
    if (!body || typeof body !== 'string') refuse('body', 'the name of a field');
    if (header !== undefined) refuse('header', 'left out, because the key is in the body');
  }
  if (!['structured', 'raw'].includes(format)) refuse('format', 'structured or raw');
  for (const option of ['maxLength', 'lifetimeMs'] as const) {
    const { [option]: value = 1 } = profile;
    if (!(typeof value === 'number' && value >= 1)) refuse(option, 'a number from 1 to Infinity');
  }
  for (const option of ['inProgress', 'alreadyDone', 'shouldRetry'] as const) {
    const value = profile[option];
    if (value !== undefined && typeof value !== 'function') refuse(option, 'a function');
  }
}
