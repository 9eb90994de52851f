import { systemTransport } from '../../lib/clock.ts';
import { filesIn, sizeOf, unreadableIn } from '../../lib/body-parts.ts';
import { isEngine } from '../../lib/browser/page.ts';
import { toUrl } from '../../lib/input/url.ts';
import { isSendable, isStream, optionOf } from '../init.ts';
import type { Attempt, Failed } from './attempt.ts';

/** The longest body that a browser sends with `keepalive` (Fetch, "HTTP-network-or-cache fetch"). */
const maxKeepaliveBytes = 65_536;

/** The ports that fetch never connects to (Fetch, "port blocking"). */
const blockedPorts =
  /^(0|1|7|9|1[1357]|19|2[0-35]|37|4[23]|53|69|7[79]|87|95|10[1-4]|109|11[01379]|11[57]|123|13[579]|143|161|179|389|427|465|51[2-5]|526|53[0-2]|540|548|55[46]|563|587|601|636|989|99[035]|1719|172[03]|2049|3659|4045|4190|506[01]|6000|6566|666[5-9]|6679|6697|10080)$/;

/** Schemes that fetch never supports. Those of Electron, Capacitor, Tauri and extensions it may: `app:`, `capacitor:`. */
const unsupported = /^(file|ftp|javascript|mailto|tel|wss?):$/;

/** Why a request was not sent, as the error that its caller gets. */
interface Refusal {
  readonly error: unknown;
}

type RefusedAttempt = Pick<Attempt, 'context' | 'request' | 'init' | 'ownFailure'>;

/**
 * The error of a request that our own side did not send, because of the program, the browser, a missing file, or an
 * interceptor of a test. Undefined if it may have been sent; a promise only if a file or the browser must be asked. Called
 * after fetch has rejected, because the browser's error is the same as for a failed network.
 */
export function refusalOf(
  attempt: RefusedAttempt,
  cause: unknown,
  wasSpent: boolean,
  reports: CspReports | undefined,
): Refusal | undefined | Promise<Refusal | undefined> {
  const { context, request, init } = attempt;
  const { passed, url, isLocal } = request;
  const failed = failedStream(attempt);
  if (failed) return { error: failed.error instanceof Error ? failed.error : cause };
  // Fetch's own error says what is wrong with the arguments.
  if (wasSpent || !isSendable(passed, url, init) || context.client?.isUnsent(cause, init))
    return { error: cause };
  if (process.env.NODE_ENV !== 'production') {
    const known = explain(attempt, cause);
    if (known) return { error: known };
  }
  if (isLocal || isTooLong(passed, init)) return { error: cause };
  return isEngine() || filesIn(init.body).length > 0
    ? findRefusal(attempt, cause, reports)
    : undefined;
}

/** The failure of the app's own stream. A Node stream reports its failure itself. */
function failedStream({ ownFailure, init: { body } }: RefusedAttempt): Failed | undefined {
  const { errored } = Object(body) as { readonly errored?: unknown };
  return ownFailure ?? (errored ? { error: errored } : undefined);
}

/** For development: the error of an interceptor of a test, or the rule of fetch that forbids the request. */
function explain(attempt: RefusedAttempt, cause: unknown): unknown {
  const { context, init } = attempt;
  const isSystem = !context.client && context.transport === systemTransport;
  const root = isSystem ? interceptorError(cause) : undefined;
  // The name of the file says more.
  const isFile = root?.name === 'NotReadableError' && filesIn(init.body).length > 0;
  if (root && !isFile) return root === cause ? cause : new TypeError(root.message, { cause });
  const rule = ruleAgainst(attempt);
  return rule && notSent(rule, attempt, cause);
}

async function findRefusal(
  attempt: RefusedAttempt,
  cause: unknown,
  reports: CspReports | undefined,
): Promise<Refusal | undefined> {
  const unreadable = await unreadableIn(attempt.init.body, cause);
  if (unreadable) return { error: unreadable };
  if (!(await isBlockedByCsp(attempt.request.url, reports))) return undefined;
  const isProduction = process.env.NODE_ENV === 'production';
  return {
    error: isProduction ? cause : notSent('the CSP of the page forbids it', attempt, cause),
  };
}

/** For development: makes the error of a request that was not sent. An adapter makes an error of its client. */
const notSent = (rule: string, { context }: RefusedAttempt, cause: unknown): unknown =>
  context.client ? cause : new TypeError(`steady.fetch: not sent, because ${rule}.`, { cause });

/** For development: the rule of fetch that forbids this request. */
function ruleAgainst({ request: { passed, url, isLocal }, init }: RefusedAttempt): string | false {
  const { protocol = '', port = '', origin } = toUrl(url) ?? {};
  if (unsupported.test(protocol)) return `fetch does not support ${protocol}`;
  if (port && blockedPorts.test(port)) return `browsers block port ${port}`;
  const isOwn = optionOf(passed, init, 'mode') === 'same-origin' && isEngine();
  if (isOwn && origin !== globalThis.origin)
    return `its mode is same-origin, and ${origin} is another origin`;
  if (isTooLong(passed, init))
    return `with keepalive, a body has at most ${maxKeepaliveBytes} bytes`;
  return isLocal && 'nothing is kept under this URL';
}

/** Whether the body is too long for `keepalive`. */
const isTooLong = (passed: Request | undefined, init: RequestInit): boolean =>
  !!optionOf(passed, init, 'keepalive') && isEngine() && sizeOf(init.body) > maxKeepaliveBytes;

/**
 * Whether our own side may have caused a rejection, so that it says nothing about the server or the network. Either the
 * request has a condition on the answer (its hash, its origin, no redirect), or the browser may have refused it without
 * telling (the stream or the Request fails, other bodies use up the quota of `keepalive`, an https page requests http).
 */
export function mayBeRefused({
  request: { passed, init: given, url },
  init,
}: RefusedAttempt): boolean {
  const type = passed?.headers.get('content-type') ?? (passed?.body ? 'unknown' : '');
  // A text that is a string has a charset in its type. A file of text has none.
  const isOpaque = init.body == null && type !== '' && !/json|urlencoded|charset/.test(type);
  return (
    !!optionOf(passed, init, 'integrity') ||
    optionOf(passed, init, 'redirect') === 'error' ||
    optionOf(passed, given, 'mode') === 'same-origin' ||
    !!optionOf(passed, init, 'keepalive') ||
    isOpaque ||
    isStream(init.body) ||
    (globalThis.location?.protocol === 'https:' &&
      /^http:\/\/(?!localhost|127\.|\[::1\])/i.test(url))
  );
}

/** In Node: error codes that mean that a request was refused before it was sent. */
const refusedCode = /^(UND_)?ERR_(INVALID|NOT_SUPPORTED|REQ|NOCK)/;

/**
 * In Node: the error of an interceptor (MSW, nock), or of fetch for a request that it cannot send. Errors of the network
 * have a code, or the name of a platform's error.
 */
function interceptorError(cause: unknown): Foreign | undefined {
  const { process: node } = globalThis as { process?: { versions?: { node?: string } } };
  const error = node?.versions?.node ? (cause as Foreign | undefined) : undefined;
  const root = typeof error?.cause?.message === 'string' ? error.cause : error;
  // Recognised by its members, because it may be from another realm.
  if (typeof root?.message !== 'string') return undefined;
  const { name = '', code } = root;
  // A DOMException has code 0, for instance for an unreadable file in a Request.
  const isRefused = !code
    ? !/^(|Type|HTTPParser|Network|Abort|Timeout)Error$/.test(name)
    : refusedCode.test(`${code}`) || /Not(Allowed|Matched)Error$/.test(name);
  return isRefused ? root : undefined;
}

/** The members that another library's error may have. */
interface Foreign {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string | number;
  readonly cause?: Foreign;
}

/** The URLs that the Content-Security-Policy of the page has blocked. */
export interface CspReports {
  readonly blocked: readonly string[];
  readonly stop: () => void;
}

/**
 * Listens for requests that the page's Content-Security-Policy blocks. WebKit, and Firefox after a redirect, report them
 * before fetch rejects, the others one task later. Undefined outside a browser engine.
 */
export function watchCsp(): CspReports | undefined {
  if (!isEngine()) return undefined;
  const blocked: string[] = [];
  // Not of a report-only policy, which blocks nothing; nor of an image with the same URL.
  const listener = (event: SecurityPolicyViolationEvent): void =>
    void (
      event.disposition === 'enforce' &&
      event.effectiveDirective === 'connect-src' &&
      blocked.push(event.blockedURI)
    );
  addEventListener(report, listener);
  return { blocked, stop: () => removeEventListener(report, listener) };
}

const report = 'securitypolicyviolation';

/**
 * Whether the page's Content-Security-Policy has blocked this request. Called when fetch has just rejected, because its
 * error is the same as for a failed network, and the report may come one task later. A message waits for that task; a
 * timer would be slow in a hidden tab, and faked in tests.
 *
 * The URL must be the same, because another request may be blocked at the same time. After a redirect, the report has the
 * first URL.
 */
async function isBlockedByCsp(url: string, reports: CspReports | undefined): Promise<boolean> {
  const target = toUrl(url);
  if (!target || !reports) return false;
  const { port1, port2 } = new MessageChannel();
  await new Promise((resolve) => {
    port1.addEventListener('message', resolve);
    port1.start();
    port2.postMessage(0);
  });
  port1.close();
  // A report has the URL without its fragment; for a URL without a host, only the scheme.
  target.hash = '';
  return reports.blocked.some((uri) => uri === target.href || `${uri}:` === target.protocol);
}
