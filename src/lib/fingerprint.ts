import { canonicalise } from './canonical.ts';
import { hmac } from './sha256.ts';

const encoder = new TextEncoder();
const chunkBytes = 1 << 20;

/**
 * What a payload is known by: the same for the same content, and another for any other. Keyed with a
 * secret, so that it does not tell by itself what was in the form.
 *
 * @throws TypeError when the payload has no content to be known by.
 */
export async function fingerprint(secret: string, payload: unknown): Promise<string> {
  const key = hmac(encoder.encode('steadfetch'), encoder.encode(secret));
  const { text, bytes } = canonicalise(payload);
  let digest = hmac(key, encoder.encode(text));
  // Chained, a piece at a time: the text has said how long each is.
  for (const part of bytes) {
    for await (const chunk of chunksOf(part)) digest = hmac(key, digest, chunk);
  }
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function* chunksOf(part: Blob | Uint8Array): AsyncGenerator<Uint8Array> {
  if (part instanceof Uint8Array) return yield part;
  for (let at = 0; at < part.size; at += chunkBytes) {
    yield new Uint8Array(await part.slice(at, at + chunkBytes).arrayBuffer());
  }
}
