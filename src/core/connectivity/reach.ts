import { systemTransport, type Transport } from '../lib/clock.ts';
import { isEngine } from '../lib/browser/page.ts';

/**
 * Whether no server gave an answer, but a service worker or the shell of an app: it has no `Date`, or is that of another
 * URL, as a page for a device without a network. Only the browser's own fetch shows this.
 */
export const isMadeUp = (
  transport: Transport,
  { type, headers, redirected, url }: Response,
  asked: string,
): boolean =>
  transport === systemTransport &&
  isEngine() &&
  !type.startsWith('opaque') &&
  !(headers.has('date') && (redirected || asked.startsWith(url)));

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
  const asked = `${origin}/`;
  try {
    const response = await transport(asked, {
      method: 'HEAD',
      mode: 'no-cors',
      cache: 'no-store',
      // A redirect counts as an answer. For another origin it can only be followed.
      redirect: origin === globalThis.origin ? 'manual' : 'follow',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return !isMadeUp(transport, response, asked);
  } catch {
    return false;
  }
}
