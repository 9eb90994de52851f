import { discard } from '../lib/discard.ts';
import { type Clock, systemTransport, type Transport } from '../lib/clock.ts';
import { hasPage, isEngine } from '../lib/browser/page.ts';
import { shown, toUrl } from '../lib/input/url.ts';
import { checkNames, isFunction, reject } from '../lib/input/check.ts';
import { warn } from '../lib/input/warn.ts';
import type { ConnectivitySource } from './page-life.ts';
import { inDevelopment } from '../lib/development.ts';
import { startAlarm, untilAborted } from '../lib/timer.ts';

/** A small request that shows whether there is a network. */
export interface CheckOptions {
  /**
   * A small static file that stays available when the API is down. A path belongs to the page's own
   * origin; for another origin, give the whole URL. It must not redirect, and no service worker may answer
   * it.
   */
  readonly url: string;
  /** The method of the request. With `expect`, which may read the body, it is `'GET'` by default. @default 'HEAD' */
  readonly method?: 'HEAD' | 'GET' | undefined;
  /** The longest wait for the answer, in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether an answer is the file, and not the page or redirect of a captive portal. Called only for a 2xx or
   * 511: other answers are assumed to come from the server. @default every answer counts
   */
  readonly expect?: ((response: Response) => boolean | Promise<boolean>) | undefined;
}

/** `reached`: there is a network. `failed`: there is none. `captive`: a portal has answered. */
export type CheckResult = 'reached' | 'failed' | 'captive';

/** Options of `watchConnectivity`. */
export interface ConnectivityOptions {
  /**
   * A small request that shows whether there is a network, or its URL. Without it, the app's own requests
   * show it and, once the browser says offline, a `HEAD /` to each known origin in turn. Sent in pages, and
   * with a `source`.
   * @default none
   */
  readonly check?: string | CheckOptions | false | undefined;
  /**
   * The source of network state in an environment without a browser: React Native's `NetInfo`. It triggers
   * checks, and proves nothing. @default the browser
   */
  readonly source?: ConnectivitySource | undefined;
}

/** Without a page or a source no check is sent, so a path needs no origin. */
const isUrl = (text: string, isSent: boolean): boolean =>
  !(hasPage() || isSent) || /^https?:/.test(toUrl(text)?.href ?? '');

type Rule = readonly [isRight: (value: unknown) => boolean, allowed: string];

const rulesOf = (hasSource: boolean): Readonly<Record<string, Rule>> => ({
  url: [(value) => typeof value === 'string' && value !== '' && isUrl(value, hasSource), 'a URL'],
  method: [(value) => [undefined, 'HEAD', 'GET'].includes(value as string), 'HEAD or GET'],
  timeoutMs: [
    (value = 1) => typeof value === 'number' && value >= 1 && value <= 60_000,
    'a number from 1 to 60000',
  ],
  expect: [(value = reject) => typeof value === 'function', 'a function'],
});

/**
 * Validates the options.
 *
 * @returns The check; undefined if there is none.
 *
 * @throws TypeError that names the operation, the option, its value and what is allowed.
 */
export function checkConnectivity(
  operation: string,
  options: ConnectivityOptions,
): CheckOptions | undefined {
  inDevelopment(() => checkOptions(operation, options));
  const asked = askedIn(options);
  return typeof asked?.url === 'string' ? asked : undefined;
}

const askedIn = ({ check }: ConnectivityOptions): CheckOptions | undefined =>
  typeof check === 'string' ? { url: check } : check || undefined;

function checkOptions(operation: string, options: ConnectivityOptions): void {
  checkNames(operation, options, ['check', 'source'], {
    url: 'check',
    timeoutMs: 'check: { timeoutMs }',
  });
  const { source } = options;
  if (source !== undefined && !isFunction(Object(source).addEventListener))
    reject(operation, 'source', source, 'an object with addEventListener, as NetInfo is');
  const rules = rulesOf(!!source);
  const validate = (name: string, value: unknown): void => {
    const [isRight, allowed] = rules[name] ?? [];
    if (isRight && !isRight(value)) reject(operation, `check.${name}`, value, allowed);
  };
  const asked = askedIn(options);
  if (typeof asked === 'object') checkNames(`${operation}: check`, asked, Object.keys(rules));
  for (const [name, value] of Object.entries(asked ? { ...asked, url: asked.url } : {}))
    validate(name, value);
}

/**
 * Whether no server gave an answer, but a service worker or the shell of an app: it has no `Date`, or is that of another
 * URL, as a page for a device without a network. Only the browser's own fetch shows this.
 */
const isMadeUp = (
  transport: Transport,
  { type, headers, redirected, url }: Response,
  asked: string,
): boolean =>
  transport === systemTransport &&
  isEngine() &&
  !type.startsWith('opaque') &&
  !(headers.has('date') && (redirected || asked.startsWith(url)));

/** Sends the check once, until the signal aborts it. Never rejects. */
export async function sendCheck(
  clock: Clock,
  transport: Transport,
  check: CheckOptions,
  signal?: AbortSignal,
): Promise<CheckResult> {
  const { url, timeoutMs = 5000, expect, method = expect ? 'GET' : 'HEAD' } = check;
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  signal?.addEventListener('abort', stop);
  const setAlarm = startAlarm(clock, timeoutMs, stop);
  const request = async (): Promise<CheckResult> => {
    // Resolved against the page's URL, not its `<base>`; in a frame of `srcdoc`, against its parent's. Without a
    // page the URL is absolute, and React Native's URL would add a slash to it.
    const { location } = globalThis as Partial<typeof globalThis>;
    const asked = (location && (toUrl(url, location.href) ?? toUrl(url))?.href) ?? url;
    const response = await transport(asked, {
      method,
      cache: 'no-store',
      // Without `expect` any answer counts, even one of another origin that the page may not read.
      mode: expect ? 'cors' : 'no-cors',
      // Most portals redirect to another origin, and CORS would hide that.
      redirect: expect ? 'manual' : 'follow',
      signal: controller.signal,
    });
    const result = await readResult(response, expect).finally(() => discard(response));
    if (result === 'captive') inDevelopment(() => warnOfPortal(check, response));
    return !expect && isMadeUp(transport, response, asked) ? 'failed' : result;
  };
  try {
    // The transport, or `expect`, may ignore the signal.
    return await untilAborted(controller.signal, request());
  } catch {
    return 'failed';
  } finally {
    setAlarm(Infinity);
    signal?.removeEventListener('abort', stop);
  }
}

/** @throws if the body breaks off, because that is the network's fault. */
async function readResult(
  response: Response,
  expect: CheckOptions['expect'],
): Promise<CheckResult> {
  if (response.type === 'opaqueredirect') return 'captive';
  if (!expect || (!response.ok && response.status !== 511)) return 'reached';
  await response.clone().text();
  // `expect` throws if the answer lacks what it reads.
  const isExpected = await (async () => expect(response))().catch(() => false);
  return isExpected ? 'reached' : 'captive';
}

/** A developer seldom sits behind a portal: mostly the check is wrong, and keeps the app offline. */
function warnOfPortal(check: CheckOptions, { type, status }: Response): void {
  const answer = type === 'opaqueredirect' ? 'was redirected' : `answered ${status}`;
  warn(
    check,
    'portal',
    `watchConnectivity: the check ${shown(check.url)} ${answer}, which its expect does not accept. So a captive ` +
      `portal is assumed, and the app is offline. If there is no portal, correct the URL of the check or its expect.`,
    'connectivity.md#anti-patterns',
  );
}
