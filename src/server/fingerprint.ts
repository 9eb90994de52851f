/** SHA-256 of method, path, query and body. Not the host: a request may come by another name. */
export async function fingerprintOf(
  { method, url }: Request,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const { pathname, search } = new URL(url);
  // A URL has no line break, so nothing of the body can be taken for a part of it.
  const head = new TextEncoder().encode(`${method} ${pathname}${search}\n`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
