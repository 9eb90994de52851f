import type { Clock, Transport } from '../lib/clock.ts';
import { originOf } from '../origin/origins.ts';
import { reject } from '../lib/check.ts';

/** A small request that asks whether the network is there. */
export interface CheckOptions {
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
export type CheckResult = 'reached' | 'failed' | 'captive';

/** How it is found out whether the network is there. */
export interface ConnectivityOptions {
  /**
   * A small request that asks, or its URL. Without one, what other requests show has to do and, only while
   * offline, a `HEAD /` to the origins known, in turn. Only in a page.
   * @default none
   */
  readonly check?: string | CheckOptions | false | undefined;
}

/** Where there is no page, there is no check either. */
const isUrl = (text: string): boolean => !globalThis.location || originOf(text) !== '';

type Rule = readonly [isRight: (value: unknown) => boolean, allowed: string];

const rulesOf = (): Readonly<Record<string, Rule>> => ({
  'check.url': [(value) => typeof value === 'string' && value !== '' && isUrl(value), 'a URL'],
  'check.method': [(value) => [undefined, 'HEAD', 'GET'].includes(value as string), 'HEAD or GET'],
  'check.timeoutMs': [
    (value = 1) => typeof value === 'number' && value >= 1 && value <= 60_000,
    'a number from 1 to 60000',
  ],
  'check.expect': [(value = reject) => typeof value === 'function', 'a function'],
});

/**
 * The check that is asked for; undefined where none is.
 *
 * @throws TypeError that names the operation, the option, its value and what is allowed.
 */
export function checkConnectivity(
  operation: string,
  options: ConnectivityOptions,
): CheckOptions | undefined {
  const { check, ...rest } = options;
  const asked = typeof check === 'string' ? { url: check } : check || undefined;
  if (process.env.NODE_ENV === 'production')
    return typeof asked?.url === 'string' ? asked : undefined;
  const rules = rulesOf();
  const validate = (name: string, value: unknown): void => {
    const [isRight, allowed] = rules[name] ?? [() => false, 'left out: there is no such option'];
    if (!isRight(value)) reject(operation, name, value, allowed);
  };
  for (const [name, value] of Object.entries(rest)) validate(name, value);
  for (const [name, value] of Object.entries(asked ? { ...asked, url: asked.url } : {}))
    validate(`check.${name}`, value);
  return asked;
}

/** Sends the check once, until it is called off. Never rejects. */
export async function sendCheck(
  clock: Clock,
  transport: Transport,
  { url, method = 'HEAD', timeoutMs = 5000, expect }: CheckOptions,
  signal?: AbortSignal,
): Promise<CheckResult> {
  const controller = new AbortController();
  let timer: unknown;
  // Also where the transport, or `expect`, does not heed the signal.
  const late = new Promise<CheckResult>((resolve) => {
    const stop = (): void => {
      controller.abort();
      resolve('failed');
    };
    timer = clock.setTimeout(stop, timeoutMs);
    signal?.addEventListener('abort', stop);
  });
  const ask = async (): Promise<CheckResult> => {
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
