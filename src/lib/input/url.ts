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

/** The origin of a URL, as fetch resolves it; '' for what is none. */
export function originOf(url: string): string {
  return toUrl(url)?.origin ?? '';
}

/** Without the query string: it carries tokens, and messages travel to logs. */
export function shown(name: string): string {
  return name.replace(/[?#].*/s, '');
}
