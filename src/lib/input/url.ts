/** The absolute form of a URL as fetch resolves it; undefined when there is none. */
export function toUrl(
  url: string,
  base: string | undefined = globalThis.location?.href,
): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}

let last = { url: '', base: '' as string | undefined, origin: '' };

/** The origin of a URL, as fetch resolves it; '' for what is none. Each request is asked about several times. */
export function originOf(url: string): string {
  const base = globalThis.location?.href;
  if (url !== last.url || base !== last.base)
    last = { url, base, origin: toUrl(url, base)?.origin ?? '' };
  return last.origin;
}

/** Without the query string: it carries tokens, and messages travel to logs. */
export function shown(name: string): string {
  return name.replace(/[?#].*/s, '');
}
