import type { IdempotentOptions } from './options.ts';

/**
 * Whose key it is: the same on every attempt, because a key in another scope is another key.
 *
 * @throws TypeError when that is no id, or is a credential, which changes when it is renewed.
 */
export async function readScope(
  request: Request,
  scope: IdempotentOptions<unknown>['scope'],
): Promise<string> {
  if (!scope) return '';
  const credentials = ['authorization', 'cookie'].map((name) => request.headers.get(name));
  const owner: unknown = await scope(request);
  const what =
    typeof owner !== 'string' || !owner
      ? 'no text, or an empty one'
      : isCredential(owner, credentials)
        ? 'a credential (a token, or the Authorization or Cookie header)'
        : undefined;
  if (!what) return owner as string;
  // The value itself is not shown: it may be a secret.
  throw new TypeError(
    `idempotent: scope is ${what}, and must be the id of the user. A token that is renewed between two ` +
      `attempts makes two orders of one.`,
  );
}

const scheme = /^(?:basic|bearer|digest|dpop|token)\s/i;
const jsonWebToken = /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/;

const isCredential = (owner: string, headers: readonly (string | null)[]): boolean =>
  scheme.test(owner) ||
  jsonWebToken.test(owner) ||
  headers.some(
    (header) => header !== null && [header, header.replace(/^\S+\s+/, '')].includes(owner),
  );
