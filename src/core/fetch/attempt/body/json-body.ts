import { isSafeMethod } from '../../../policy/operation.ts';
import type { Attempt } from '../attempt.ts';
import { isPage } from '../classify.ts';
import { findGuard, type Guard } from '../guard.ts';

/** A longer body is not parsed before it is handed out. Its beginning decides. */
const mostBytes = 65_536;
/** JSON's white space (RFC 8259 §2), and the bytes of a byte order mark. */
const blanks: readonly number[] = [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf];

/** Whether a text is empty, or JSON. */
function isJsonText(text: string): boolean {
  try {
    return !/\S/.test(text) || JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Whether an answer is what was requested, although its headers do not say so: JSON or empty with PHP's default content
 * type or, after a redirect, no page. It reads no more than it needs: of a page, the first byte. If the body breaks off
 * meanwhile, its reader reports that.
 */
export async function isExpectedBody(attempt: Attempt, response: Response): Promise<boolean> {
  const { context, request, init } = attempt;
  // The login page of an expired session: the server may never have seen the write.
  if (response.redirected && !isSafeMethod(request.method) && isPage(response)) return false;
  const isJson = request.expect === 'json';
  const isText = (text: string): boolean => (isJson ? isJsonText(text) : !/^\s*</.test(text));
  const mayBegin = (byte: number): boolean =>
    (isJson ? /[{["\-\dtfn]/ : /[^<]/).test(String.fromCharCode(byte));
  if (context.client) {
    // Another client has read the body.
    const data = context.client.readData(init);
    return typeof data === 'string' ? isText(data) : data !== undefined;
  }
  const guard = findGuard(response) as Guard;
  let first: number | undefined;
  const isPlain = (part: Uint8Array): boolean => {
    first ??= part.find((byte) => !blanks.includes(byte));
    return first !== undefined && !mayBegin(first);
  };
  try {
    // Without streams, as in React Native, all of the body is there.
    const isWhole = !guard.isStreaming || (await guard.readAhead(mostBytes, isPlain));
    if (isWhole) return isText(await response.clone().text());
    return first === undefined || mayBegin(first);
  } catch {
    return true;
  }
}
