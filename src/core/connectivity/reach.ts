import { systemTransport, type Transport } from '../lib/clock.ts';
import { isEngine } from '../lib/browser/page.ts';

/** The longest wait for an answer. */
const timeoutMs = 5000;

/**
 * Asks an origin for an answer of any kind, even one that the page may not read. Only with the browser's own
 * fetch: other transports do not hide answers from the page.
 *
 * @returns false if no answer came, if a service worker made it up, or if the origin cannot be asked.
 */
export async function isReachable(transport: Transport, origin: string): Promise<boolean> {
  if (transport !== systemTransport || !isEngine() || !origin.startsWith('http')) return false;
  try {
    const { type } = await transport(`${origin}/`, {
      method: 'HEAD',
      mode: 'no-cors',
      cache: 'no-store',
      // A redirect counts as an answer. For another origin it can only be followed.
      redirect: origin === globalThis.origin ? 'manual' : 'follow',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return type !== 'default';
  } catch {
    return false;
  }
}
