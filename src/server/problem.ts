import type { Settings } from './options.ts';

/** Why a request was not handed to the handler, in the `code` of its problem. */
export type ProblemCode =
  | 'key-missing'
  | 'key-malformed'
  | 'in-progress'
  | 'payload-mismatch'
  | 'body-too-large'
  | 'store-full';

const problems: Readonly<
  Record<ProblemCode, readonly [status: number, title: string, detail: string]>
> = {
  'key-missing': [400, 'Bad Request', 'This request needs an idempotency key.'],
  'key-malformed': [400, 'Bad Request', 'The idempotency key is not one.'],
  'in-progress': [409, 'Conflict', 'A request with this idempotency key is still being processed.'],
  'payload-mismatch': [
    422,
    'Unprocessable Content',
    'This idempotency key has been used with another payload.',
  ],
  'body-too-large': [413, 'Content Too Large', 'The body is too large. Nothing was done.'],
  'store-full': [
    503,
    'Service Unavailable',
    'There is no room for another idempotency key at the moment. Nothing was done.',
  ],
};

/** Answers that ask for the same request again, later. */
const isTemporary = (code: ProblemCode): boolean => code === 'in-progress' || code === 'store-full';

type ProblemSettings = Pick<Settings<unknown>, 'header' | 'retryAfterSeconds' | 'documentationUrl'>;

/** An answer as of RFC 9457. Nothing of the request is repeated in it but the header's name. */
export function createProblem(
  code: ProblemCode,
  { header, retryAfterSeconds, documentationUrl }: ProblemSettings,
  more = '',
): Response {
  const [status, title, detail] = problems[code];
  const headers = new Headers({ 'content-type': 'application/problem+json' });
  if (isTemporary(code)) headers.set('retry-after', `${retryAfterSeconds}`);
  if (documentationUrl !== undefined) {
    headers.set('link', `<${documentationUrl}>; rel="describedby"`);
  }
  const type = documentationUrl ?? 'about:blank';
  const body = { type, title, status, detail: `${header}: ${detail}${more}`, code };
  return new Response(JSON.stringify(body), { status, headers });
}
