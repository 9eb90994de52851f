import { isMarked, mark } from '../../lib/input/warn.ts';
import { isStreaming } from './body/body-source.ts';

const byHand = 'made by hand';

function headersOf(given: unknown): Headers {
  if (typeof (given as Partial<Headers> | undefined)?.get === 'function') return given as Headers;
  try {
    return new Headers(given as HeadersInit);
  } catch {
    return new Headers();
  }
}

/**
 * For development: completes an answer that a test has made by hand, which needs only a status, `ok` or a reader. Any
 * other answer stays as it is.
 */
export function completeMock(given: Response): Response {
  const isPlain = Object.getPrototypeOf(given) === Object.prototype;
  if (!isPlain && typeof given.clone === 'function') return given;
  const mock: Partial<Response> = given;
  const { status = mock.ok === false ? 500 : 200, body = null } = mock;
  const reader = (name: 'json' | 'text', read: () => Promise<unknown>): unknown =>
    mock[name] ?? (mock.json || mock.text || isStreaming(body) ? read : undefined);
  const whole = {
    bodyUsed: false,
    redirected: false,
    statusText: '',
    type: 'default',
    url: '',
    ...mock,
    body,
    clone: () => complete,
    headers: headersOf(mock.headers),
    // Each can be made from the other.
    json: reader('json', async () => JSON.parse(`${await mock.text?.()}`) as unknown),
    ok: mock.ok ?? (status >= 200 && status <= 299),
    status,
    text: reader('text', async () => JSON.stringify(await mock.json?.())),
  };
  const complete: Response = Object.create(
    given,
    Object.getOwnPropertyDescriptors(whole),
  ) as Response;
  mark(complete, byHand);
  return complete;
}

/** For development: whether a test has made this answer by hand. */
export const isMock = (answer: object): boolean => isMarked(answer, byHand);
