import { canonicalise } from '../core/lib/fingerprint.ts';
import { replayAnswer } from './response.ts';
import type { StoredAnswer } from './stores/store.ts';

/** The answer of an action, as it is read from a store. */
export type ActionAnswer =
  | { readonly status: 'succeeded' | 'refused'; readonly data: unknown }
  | { readonly status: 'redirected'; readonly redirect: unknown }
  | { readonly status: 'partly-done' };

/** The statuses that answers are stored with. */
const statuses = { succeeded: 200, refused: 422, redirected: 303 } as const;

/** In place of the header of a redirect: what Next.js throws. */
const digestHeader = 'digest';

/** In place of a header of a redirect, whose name no header has: what TanStack Router has in its Response, as JSON. */
const membersHeader = 'own members';

/** @throws TypeError if the data would come back as something else. */
export function encodeAnswer(status: 'succeeded' | 'refused', data: unknown): StoredAnswer {
  const text = data === undefined ? '' : toText(data);
  return { status: statuses[status], headers: [], body: new TextEncoder().encode(text) };
}

function toText(data: unknown): string {
  try {
    const text = JSON.stringify(data);
    if (canonicalise(JSON.parse(text)).text === canonicalise(data).text) return text;
  } catch {
    // No JSON at all.
  }
  throw new TypeError(
    'idempotentAction: what the action returns is not JSON, so a second press would be shown something else. Return plain ' +
      'data, for a Date its text. Nothing was done.',
  );
}

/**
 * A redirect of Next.js, or a Response. Cookies are not stored: they are secrets of the first answer.
 *
 * @throws TypeError for any other redirect, because it could not be thrown again.
 */
export function encodeRedirect(redirect: unknown): StoredAnswer {
  const body = new Uint8Array();
  if (redirect instanceof Response) {
    const headers = [...redirect.headers].filter(([name]) => name !== 'set-cookie');
    const members = Object.entries(redirect);
    if (members.length > 0) headers.push([membersHeader, toText(Object.fromEntries(members))]);
    return { status: redirect.status, headers, body };
  }
  const { digest } = redirect as { readonly digest?: string };
  if (digest === undefined)
    throw new TypeError(
      'idempotentAction: this redirect cannot be thrown again for a second press. Throw it around the action. Nothing was done.',
    );
  return { status: statuses.redirected, headers: [[digestHeader, digest]], body };
}

/** The answer that was stored. */
export function decodeAnswer(answer: StoredAnswer): ActionAnswer {
  const { status, headers, body } = answer;
  if (status === statuses.succeeded || status === statuses.refused) {
    const text = new TextDecoder().decode(body);
    const data: unknown = text === '' ? undefined : JSON.parse(text);
    return { status: status === statuses.refused ? 'refused' : 'succeeded', data };
  }
  if (status >= 500) return { status: 'partly-done' };
  const {
    [digestHeader]: digest,
    [membersHeader]: members = '{}',
    ...own
  } = Object.fromEntries(headers);
  const redirect =
    digest === undefined
      ? Object.assign(
          replayAnswer({ ...answer, headers: Object.entries(own) }),
          JSON.parse(members),
        )
      : Object.assign(new Error('NEXT_REDIRECT'), { digest });
  return { status: 'redirected', redirect };
}
