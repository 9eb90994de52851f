import { isSafeMethod } from '../../../policy/operation.ts';
import type { Attempt } from '../attempt.ts';
import { isPage } from '../classify.ts';
import { findGuard } from '../guard.ts';

/** Nothing longer is parsed before it is handed out: its beginning decides. */
const mostBytes = 65_536;
/** JSON's white space (RFC 8259 §2), and the bytes of a byte order mark. */
const blanks: readonly number[] = [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf];

/** The grammar of a body: which bytes may be its first one, and which texts are one. */
interface Grammar {
  readonly mayBegin: (byte: number) => boolean;
  readonly isText: (text: string) => boolean;
}

const json: Grammar = {
  mayBegin: (byte) => /[{["\-\dtfn]/.test(String.fromCharCode(byte)),
  isText(text) {
    try {
      return !/\S/.test(text) || JSON.parse(text) !== undefined;
    } catch {
      return false;
    }
  },
};

const noPage: Grammar = {
  mayBegin: (byte) => byte !== 0x3c,
  isText: (text) => !/^\s*</.test(text),
};

/**
 * Whether an answer is what was asked for, although its headers do not say so: JSON, or empty, with the content type of
 * PHP; or, after a redirect, no page. No more of it is read than that takes: of a page, its first byte. Where it breaks
 * off meanwhile, its reader reports that.
 */
export async function isExpectedBody(attempt: Attempt, response: Response): Promise<boolean> {
  const { context, request, init } = attempt;
  // The login page of an expired session: the server may never have seen the write.
  if (response.redirected && !isSafeMethod(request.method) && isPage(response)) return false;
  const { mayBegin, isText } = request.expect === 'json' ? json : noPage;
  if (context.client) {
    // Another client has read it.
    const data = context.client.readData(init);
    return typeof data === 'string' ? isText(data) : data !== undefined;
  }
  const guard = findGuard(response);
  if (!guard) return false;
  let first: number | undefined;
  const isPlain = (part: Uint8Array): boolean => {
    first ??= part.find((byte) => !blanks.includes(byte));
    return first !== undefined && !mayBegin(first);
  };
  try {
    // Without streams, as in React Native, all of it is there.
    const isWhole = !guard.isStreaming || (await guard.readAhead(mostBytes, isPlain));
    if (isWhole) return isText(await response.clone().text());
    return first === undefined || mayBegin(first);
  } catch {
    return true;
  }
}
