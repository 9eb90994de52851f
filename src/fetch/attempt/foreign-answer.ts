import { isStreaming, isWebStream } from './body-source.ts';

/** Those of the platform keep all they have out of sight; polyfills, and what tests make by hand, do not. */
export function hasNativeShape(given: Response): boolean {
  const isBare = Object.isExtensible(given) && Object.keys(given).length === 0;
  return isBare && Object.prototype.toString.call(given) === '[object Response]';
}

/** node-fetch tells a body of Node of an abort, and an error without a listener ends the process. */
export function ignoreErrors(body: unknown): void {
  const { on } = Object(body) as { readonly on?: (event: string, listener: () => void) => unknown };
  if (!isWebStream(body)) on?.call(body, 'error', () => {});
}

function headersOf(given: Headers | undefined): Headers {
  if (typeof given?.get === 'function') return given;
  try {
    return new Headers(given);
  } catch {
    return new Headers();
  }
}

/** What an answer made by hand may lack. */
function defaultsOf(given: Partial<Response>): Readonly<Record<string, unknown>> {
  const { ok } = given;
  const status = given.status ?? (ok === false ? 500 : 200);
  return {
    body: null,
    bodyUsed: false,
    clone: true,
    headers: headersOf(given.headers),
    ok: ok ?? (status >= 200 && status <= 299),
    redirected: false,
    status,
    statusText: '',
    type: 'default',
    url: '',
  };
}

/**
 * An answer whose own methods run on itself, and read nothing of what is ours. It has our `members` in the
 * place of its own. `isRead` says whether they have read it.
 */
export function wrapAnswer(
  given: Response,
  members: object,
  isRead: (response: object) => boolean,
): Response {
  const defaults = defaultsOf(given);
  const { body } = given;
  const valueOf = (name: string | symbol): unknown => {
    if (name === 'headers') return defaults['headers'];
    // Each can be made of the other, and both of a stream.
    if (name === 'text' || name === 'json')
      return isStreaming(body) || 'text' in given || 'json' in given || undefined;
    return Reflect.get(given, name, given) ?? Reflect.get(defaults, name);
  };
  // Not over the answer itself: where that is frozen, a Proxy could not have other members.
  return new Proxy(Object.create(Object.getPrototypeOf(given) as object | null) as Response, {
    has: (_, name) => name in given || name in defaults,
    get(target, name, proxy) {
      // The app has set it.
      if (Object.hasOwn(target, name)) return Reflect.get(target, name, proxy) as unknown;
      const value = valueOf(name);
      if (name === 'bodyUsed') return !!value || isRead(proxy as object);
      const isOurs = Object.hasOwn(members, name) && value !== undefined;
      if (isOurs) return Reflect.get(members, name, proxy) as unknown;
      return typeof value === 'function' && name !== 'constructor'
        ? (value.bind(given) as unknown)
        : value;
    },
  });
}
