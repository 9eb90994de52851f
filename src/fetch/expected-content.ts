import { reject } from '../lib/check.ts';

/** What an answer is expected to be: `any` means that nothing is. */
export type Expected = 'json' | 'any';

/** What a server that says nothing better sends JSON as; only the body itself can tell. */
const undecided = ['', 'text/plain', 'application/octet-stream'];

const mediaType = ({ headers }: Response): string =>
  (headers.get('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();

/**
 * Whether an answer says that it is something else than what was asked for: the login page of a
 * captive portal, the page of a proxy, the fallback of a single-page app.
 */
export function isUnexpected(response: Response, expected: Expected | undefined): boolean {
  if (expected !== 'json' || response.body === null) return false;
  const type = mediaType(response);
  return !undecided.includes(type) && !isJson(type);
}

/** Whether a body that cannot be parsed came from whom it was asked of. */
export function isFromItsServer(response: Response): boolean {
  return isJson(mediaType(response));
}

/** What the content type is called in a message. */
export const shownType = (response: Response): string => mediaType(response) || 'nothing';

/** RFC 8259 §11, and the suffix of RFC 6839 §3.1. */
const isJson = (type: string): boolean => /^[^/]+\/([^/]+\+)?json$/.test(type);

/** @throws TypeError when it is no such value. */
export function checkExpect(operation: string, expect: Expected | undefined): void {
  if (
    process.env.NODE_ENV !== 'production' &&
    expect !== undefined &&
    !['json', 'any'].includes(expect)
  )
    reject(operation, 'expect', expect, 'json or any');
}
