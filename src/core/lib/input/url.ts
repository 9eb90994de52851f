/** The base of relative URLs, as fetch resolves them. A `<base>` element, or an iframe's parent, may set it; a worker has no document. */
const baseUrl = (): string | undefined =>
  (globalThis as Partial<typeof globalThis>).document?.baseURI ?? globalThis.location?.href;

/** The absolute form of a URL as fetch resolves it; undefined for an invalid one. */
export function toUrl(url: string, base: string | undefined = baseUrl()): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}

/** A part of a URL in one of its equivalent spellings: RFC 3986 §6.2.2, `%7e` and `~` are the same, `%2f` and `/` are not. */
export function normalizeEscapes(part: string): string {
  return part.replace(/%[\da-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(parseInt(escaped.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : escaped.toUpperCase();
  });
}

let last = { url: '', base: '' as string | undefined, origin: '' };

/**
 * The origin of a URL, as fetch resolves it; '' for an invalid one. The latest is cached, because each
 * request asks several times.
 */
export function originOf(url: string): string {
  const base = baseUrl();
  if (url !== last.url || base !== last.base)
    last = { url, base, origin: toUrl(url, base)?.origin ?? '' };
  return last.origin;
}

/** Removes the query string: it may carry tokens, and messages reach logs. */
export function shown(name: string): string {
  return name.replace(/[?#].*/s, '');
}
