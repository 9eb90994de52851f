import { systemTransport } from '../../lib/clock.ts';
import { filesIn, sizeOf, unreadableIn } from '../../lib/body-parts.ts';
import { isEngine } from '../../lib/browser/page.ts';
import { toUrl } from '../../lib/input/url.ts';
import { isSendable, isStream, optionOf, requestOf } from '../init.ts';
import type { Attempt } from './attempt.ts';
import type { Failed } from './body/own-stream.ts';
import { isText } from './headers-limit.ts';

/** The longest body that a browser sends with `keepalive` (Fetch, "HTTP-network-or-cache fetch"). */
const maxKeepaliveBytes = 65_536;

/** Why a request was not sent, as the error that its caller gets. */
interface Refusal {
  readonly error: unknown;
}

type RefusedAttempt = Pick<Attempt, 'context' | 'request' | 'init' | 'ownFailure'>;

/**
 * The error of a request that our own side did not send: the program, the browser, a file that is gone,
 * or an interceptor of a test. Undefined where it may have been sent; a promise only where a file or the
 * browser is asked. Called after fetch has rejected, because a browser's error is the same as that of a
 * failed network.
 */
export function refusalOf(
  attempt: RefusedAttempt,
  cause: unknown,
  wasSpent: boolean,
  reports: CspReports | undefined,
): Refusal | undefined | Promise<Refusal | undefined> {
  const { context, request, init } = attempt;
  const { input, isLocal } = request;
  const failed = failedStream(attempt);
  if (failed) return { error: failed.error instanceof Error ? failed.error : cause };
  // The error of fetch says what is wrong with the arguments.
  if (wasSpent || !isSendable(input, init) || context.client?.isUnsent(cause, init))
    return { error: cause };
  if (process.env.NODE_ENV !== 'production') {
    const known = explain(attempt, cause);
    if (known) return { error: known };
  }
  if (isLocal || isTooLong(input, init)) return { error: cause };
  return isEngine() || filesIn(init.body).length > 0
    ? findRefusal(attempt, cause, reports)
    : undefined;
}

/** The error of a stream of the app's that has failed. One of Node says so itself. */
function failedStream({ ownFailure, init: { body } }: RefusedAttempt): Failed | undefined {
  const { errored } = Object(body) as { readonly errored?: unknown };
  return ownFailure ?? (errored ? { error: errored } : undefined);
}

/** For development: the error of what an interceptor of a test, or a rule of fetch, refuses. No such interceptor is in a production build. */
function explain(attempt: RefusedAttempt, cause: unknown): unknown {
  const { context, init } = attempt;
  const isSystem = !context.client && context.transport === systemTransport;
  const root = isSystem ? interceptorError(cause) : undefined;
  // Which file it is says more.
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

/** For development. An adapter has an error of its own client. */
const notSent = (rule: string, { context }: RefusedAttempt, cause: unknown): unknown =>
  context.client ? cause : new TypeError(`steady.fetch: not sent, because ${rule}.`, { cause });

/** For development: the rule that forbids this request, wherever it goes. */
function ruleAgainst({ request: { input, url, isLocal }, init }: RefusedAttempt): string | false {
  const { protocol = '', origin } = toUrl(url) ?? {};
  if (!/^(https?|data|blob|about):$/.test(protocol)) return `fetch does not support ${protocol}`;
  const isOwn = optionOf(input, init, 'mode') === 'same-origin' && isEngine();
  if (isOwn && origin !== globalThis.location?.origin)
    return `its mode is same-origin, and ${origin} is another origin`;
  if (isTooLong(input, init))
    return `with keepalive, a body has at most ${maxKeepaliveBytes} bytes`;
  return isLocal && 'nothing is kept under this URL';
}

/** A browser sends no longer body with `keepalive`. */
const isTooLong = (input: RequestInfo | URL, init: RequestInit): boolean =>
  !!optionOf(input, init, 'keepalive') && isEngine() && sizeOf(init.body) > maxKeepaliveBytes;

/**
 * Whether a rejection may be our own side's doing, so that it says nothing of the server or the network:
 * something is demanded of the answer (its hash, its origin, no redirect), or the browser refuses what it
 * does not let us see (the stream or the Request may fail, other bodies use up the quota of `keepalive`, an
 * https page asks http).
 */
export function mayBeRefused({
  request: { input, init: given, url },
  init,
}: RefusedAttempt): boolean {
  const request = requestOf(input);
  const hasBody = !!request && (request.headers.has('content-type') || !!request.body);
  const isOpaque = init.body == null && hasBody && !isText(request);
  return (
    !!optionOf(input, init, 'integrity') ||
    optionOf(input, init, 'redirect') === 'error' ||
    optionOf(input, given, 'mode') === 'same-origin' ||
    !!optionOf(input, init, 'keepalive') ||
    isOpaque ||
    isStream(init.body) ||
    (globalThis.location?.protocol === 'https:' &&
      /^http:\/\/(?!localhost|127\.|\[::1\])/i.test(url))
  );
}

/** In Node: codes of errors by which a request was refused before it was sent. */
const refusedCode = /^(UND_)?ERR_(INVALID|NOT_SUPPORTED|REQ|NOCK)/;

/**
 * In Node: the error of an interceptor in the place of fetch (MSW, nock), or of fetch for a request that it
 * cannot send. Those of a network have a code, or the name of a platform's error.
 */
function interceptorError(cause: unknown): Foreign | undefined {
  const { process: node } = globalThis as { process?: { versions?: { node?: string } } };
  const error = node?.versions?.node ? (cause as Foreign | undefined) : undefined;
  const root = typeof error?.cause?.message === 'string' ? error.cause : error;
  // By what it has: it may be of another realm.
  if (typeof root?.message !== 'string') return undefined;
  const { name = '', code } = root;
  // That of a DOMException is 0, as of a file in a Request that cannot be read.
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
 * Listens for what the page's Content-Security-Policy blocks: WebKit, and Firefox after a redirect, report
 * it before they reject, the others one task later. Undefined where no engine enforces one.
 */
export function watchCsp(): CspReports | undefined {
  if (!isEngine()) return undefined;
  const blocked: string[] = [];
  // A policy that only reports blocks nothing, and an image may have the URL of a request.
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
 * Whether the page's Content-Security-Policy has forbidden this request. Asked when fetch has just
 * rejected: the error is that of a failed network, and the browser may say more one task later. A
 * message waits for that task, not a timer: those are slow in a hidden tab, and faked in tests.
 *
 * The URL must be the same, for another request may be blocked at the same time. After a redirect
 * the browser tells the first one: where it must not go on, it would not get any further next time.
 */
async function isBlockedByCsp(url: string, reports: CspReports | undefined): Promise<boolean> {
  if (!reports) return false;
  const { port1, port2 } = new MessageChannel();
  await new Promise((resolve) => {
    port1.addEventListener('message', resolve);
    port1.start();
    port2.postMessage(0);
  });
  port1.close();
  // A report has the URL without its fragment.
  const target = toUrl(url)?.href.replace(/#.*/s, '');
  return reports.blocked.some((uri) => uri === target);
}
