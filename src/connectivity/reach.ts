import { systemTransport, type Transport } from '../lib/clock.ts';
import { isEngine } from '../lib/browser/page.ts';

/** Longer than that, an answer is not waited for. */
const timeoutMs = 5000;

/**
 * Asks an origin for an answer of any kind, also one that the page may not read. Only by the browser's own
 * fetch: no other transport hides answers from its page.
 *
 * @returns false where none came, or a service worker has made one up, or it is not to be asked.
 */
export async function askForAnswer(transport: Transport, origin: string): Promise<boolean> {
  if (transport !== systemTransport || !isEngine() || !origin.startsWith('http')) return false;
  try {
    const { type } = await transport(`${origin}/`, {
      method: 'HEAD',
      mode: 'no-cors',
      cache: 'no-store',
      // A redirect is an answer. Of another origin it can only be followed.
      redirect: origin === globalThis.location?.origin ? 'manual' : 'follow',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return type !== 'default';
  } catch {
    return false;
  }
}
