import type { Clock, Transport } from '../policy/clock.ts';
import { originOf } from '../origin/origins.ts';
import { reject } from '../policy/check-option.ts';

/** A small request that asks whether the network is there. */
export interface ProbeOptions {
  /**
   * Something that is there whatever becomes of the API: a small static file. A path is one of the
   * page's own origin; another origin must be written out. It must not redirect, nor be answered by a
   * service worker.
   */
  readonly url: string;
  /** @default 'HEAD' */
  readonly method?: 'HEAD' | 'GET' | undefined;
  /** The longest wait for its answer, in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether an answer is ours, and not that of a captive portal, which answers everything with a
   * page of its own or a redirect. Only asked about a good answer: one with an error is taken for a server's.
   * @default every answer is ours
   */
  readonly expect?: ((response: Response) => boolean | Promise<boolean>) | undefined;
}

/** The network is there; it is not; or something else has answered. */
export type ProbeResult = 'reached' | 'failed' | 'captive';

/** How it is found out whether the network is there. */
export interface ConnectivityOptions {
  /**
   * A small request that asks. Without one, what other requests show has to do and, only while
   * offline, a `HEAD /` to the origins known, in turn. Only in a page.
   * @default false
   */
  readonly probe?: ProbeOptions | false | undefined;
}

/** Where there is no page, there is no probe either. */
const isUrl = (text: string): boolean => !globalThis.location || originOf(text) !== '';

type Rule = readonly [isRight: (value: unknown) => boolean, allowed: string];

const rules: Readonly<Record<string, Rule>> = {
  'probe.url': [(value) => typeof value === 'string' && value !== '' && isUrl(value), 'a URL'],
  'probe.method': [(value) => [undefined, 'HEAD', 'GET'].includes(value as string), 'HEAD or GET'],
  'probe.timeoutMs': [
    (value = 1) => typeof value === 'number' && value >= 1 && value <= 60_000,
    'a number from 1 to 60000',
  ],
  'probe.expect': [(value = reject) => typeof value === 'function', 'a function'],
};

/** @throws TypeError that names the operation, the option, its value and what is allowed. */
export function checkConnectivity(
  operation: string,
  options: ConnectivityOptions = {},
): ConnectivityOptions {
  const { probe, ...rest } = options;
  const check = (name: string, value: unknown): void => {
    const [isRight, allowed] = rules[name] ?? [() => false, 'left out: there is no such option'];
    if (!isRight(value)) reject(operation, name, value, allowed);
  };
  for (const [name, value] of Object.entries(rest)) check(name, value);
  if (!probe) return options;
  for (const [name, value] of Object.entries({ ...probe, url: probe.url }))
    check(`probe.${name}`, value);
  return options;
}

/** Sends the probe once, until it is called off. Never rejects. */
export async function sendProbe(
  clock: Clock,
  transport: Transport,
  { url, method = 'HEAD', timeoutMs = 5000, expect }: ProbeOptions,
  signal?: AbortSignal,
): Promise<ProbeResult> {
  const controller = new AbortController();
  let timer: unknown;
  // Also where the transport, or `expect`, does not heed the signal.
  const late = new Promise<ProbeResult>((resolve) => {
    const stop = (): void => {
      controller.abort();
      resolve('failed');
    };
    timer = clock.setTimeout(stop, timeoutMs);
    signal?.addEventListener('abort', stop);
  });
  const ask = async (): Promise<ProbeResult> => {
    // Of the page, not of a `<base>` in it.
    const response = await transport(new URL(url, globalThis.location?.href).href, {
      method,
      cache: 'no-store',
      // Any answer of another origin will do, also one that the page may not read.
      mode: expect ? 'cors' : 'no-cors',
      // Most portals send the browser to a page of another origin, where CORS would hide it.
      redirect: expect ? 'manual' : 'follow',
      signal: controller.signal,
    });
    if (response.type === 'opaqueredirect') return 'captive';
    if (!expect || (!response.ok && response.status !== 511)) return 'reached';
    // A body that breaks off is the network's doing: it must be in before it is judged.
    await response.clone().arrayBuffer();
    return (await isExpected(expect, response)) ? 'reached' : 'captive';
  };
  try {
    return await Promise.race([ask(), late]);
  } catch {
    return 'failed';
  } finally {
    clock.clearTimeout(timer);
  }
}

async function isExpected(
  expect: (response: Response) => boolean | Promise<boolean>,
  response: Response,
): Promise<boolean> {
  try {
    return await expect(response);
  } catch {
    // Not even what it looks for is there.
    return false;
  }
}
