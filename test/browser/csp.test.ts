import { createSteadfetch, type Decision, type Failure, NetworkError, retry } from 'steadfetch';
import { afterEach, beforeAll, beforeEach, expect, inject, test, vi } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import { openTalk, type Talk } from './talk.ts';

const type = 'securitypolicyviolation';
const [allowed, forbidden] = inject('origins');
/** The forbidden server by another name, so that its log can be read. */
const reachable = forbidden.replace('127.0.0.1', 'localhost');

/** A talk to a URL that the policy of the page forbids. */
function openForbidden(): Talk {
  const talk = openTalk(reachable, 'ok');
  return { ...talk, url: talk.url.replace(reachable, forbidden) };
}

beforeAll(() => {
  // For good: a policy that a document has been given cannot be taken back.
  const policy = document.createElement('meta');
  policy.httpEquiv = 'Content-Security-Policy';
  policy.content = `connect-src 'self' ws: ${allowed} ${reachable}`;
  document.head.append(policy);
});
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

/** The next task: the browser reports a block in one that it queues before it rejects. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(0);
  });
}

/** What is decided about the failures of an operation, until it ends. */
async function decisionsOn(url: string, init: RequestInit = {}) {
  const decisions: (readonly [Failure, Decision])[] = [];
  const steady = createSteadfetch({ policy: { baseMs: 0 } });
  steady.subscribe((event) => {
    if (event.type === 'decision') decisions.push([event.failure, event.decision]);
  });
  const run = retry(steady, ({ signal }) => steady.fetch(url, { ...init, signal }), {
    idempotent: true,
    maxRetries: 2,
  });
  return { error: await rejectionOf(run), decisions };
}

const invalid = { kind: 'invalid', processed: 'no' };
const stop = { kind: 'stop', reason: 'not-retryable', retryAt: undefined };

test.each([
  ['GET', {}],
  ['POST', { method: 'POST', body: 'order', headers: { 'x-key': '1' } }],
])('a %s that the CSP of the page forbids is never sent, and not retried', async (_, init) => {
  const talk = openForbidden();
  const { error, decisions } = await decisionsOn(talk.url, init);
  expect(error).toBeInstanceOf(TypeError);
  expect(decisions).toEqual([[invalid, stop]]);
  expect(await talk.log()).toEqual({ requests: [], preflights: 0 });
});

test.each([`${forbidden}/?a=ü b#part`, 'data:text/plain,hello'])(
  'a block is known however the browser writes the URL %s in its report',
  async (url) => {
    expect((await decisionsOn(url)).decisions).toEqual([[invalid, stop]]);
  },
);

test('a redirect that the CSP forbids is not followed again', async () => {
  const talk = openTalk(allowed, 'redirect-to-other');
  const { decisions } = await decisionsOn(`${talk.url}&other=${forbidden}`);
  expect(decisions).toEqual([[invalid, stop]]);
  expect((await talk.log()).requests).toHaveLength(1);
});

test('a network failure stays one while other requests are blocked', async () => {
  const { fetch } = createSteadfetch();
  const urls = [
    openTalk(allowed, 'reset').url,
    openForbidden().url,
    openTalk(allowed, 'close').url,
  ];
  const errors = await Promise.all(urls.map((url) => rejectionOf(fetch(url))));
  expect(errors.map((error) => error instanceof NetworkError)).toEqual([true, false, true]);
});

/** What a request ends with that fails while the browser reports this: before it rejects, as WebKit does, or after. */
function rejectionWith(
  when: 'before' | 'after',
  report: Partial<SecurityPolicyViolationEventInit>,
): Promise<unknown> {
  const tell = (): void => {
    const base = { documentURI: '', effectiveDirective: 'connect-src', originalPolicy: '' };
    const full = { ...base, violatedDirective: 'connect-src', statusCode: 0, ...report };
    window.dispatchEvent(new SecurityPolicyViolationEvent(type, full));
  };
  const transport = async (): Promise<never> => {
    if (when === 'before') {
      await nextTask();
      tell();
      await nextTask();
    } else void nextTask().then(tell);
    throw new TypeError('Failed to fetch');
  };
  return rejectionOf(createSteadfetch({ fetch: transport }).fetch(`${allowed}/a`));
}

test.each(['before', 'after'] as const)(
  'only a report of the same URL, of a request, by a policy that is enforced, says that it was blocked: %s the rejection',
  async (when) => {
    const same = { blockedURI: `${allowed}/a`, disposition: 'enforce' } as const;
    expect(await rejectionWith(when, same)).not.toBeInstanceOf(NetworkError);
    const others = [
      { ...same, disposition: 'report' },
      { ...same, effectiveDirective: 'img-src' },
      { ...same, blockedURI: `${allowed}/ab` },
      { ...same, blockedURI: allowed },
      { ...same, blockedURI: 'data' },
    ] as const;
    for (const other of others)
      expect(await rejectionWith(when, other)).toBeInstanceOf(NetworkError);
  },
);

test('a report of the time before a request says nothing of it', async () => {
  const same = { blockedURI: `${allowed}/a`, disposition: 'enforce' } as const;
  await rejectionWith('before', same);
  expect(await rejectionWith('before', { ...same, blockedURI: '' })).toBeInstanceOf(NetworkError);
});

test('two hundred blocked requests at once are all known', async () => {
  const { fetch } = createSteadfetch();
  const urls = Array.from({ length: 200 }, (_, index) => `${forbidden}/${index}`);
  const errors = await Promise.all(urls.map((url) => rejectionOf(fetch(url))));
  expect(errors.filter((error) => error instanceof NetworkError)).toEqual([]);
});

test('an abort before the browser has told keeps its own reason', async () => {
  const controller = new AbortController();
  const reason = new Error('gone');
  const transport = async (): Promise<never> => {
    void nextTask().then(() => controller.abort(reason));
    throw new TypeError('Failed to fetch');
  };
  const { fetch } = createSteadfetch({ fetch: transport });
  expect(await rejectionOf(fetch('/', { signal: controller.signal }))).toBe(reason);
});

test('the browser tells of a CSP block only one task after it has rejected the fetch', async () => {
  const { url } = openTalk(forbidden, 'ok');
  const order: string[] = [];
  const told = new Promise<SecurityPolicyViolationEvent>((resolve) => {
    const tell = (event: SecurityPolicyViolationEvent): void => {
      order.push('told');
      resolve(event);
    };
    document.addEventListener(type, tell, { once: true });
  });
  await fetch(url).catch(() => order.push('rejected'));
  order.push('microtasks');
  expect(await told).toMatchObject({ blockedURI: url, effectiveDirective: 'connect-src' });
  expect(order).toEqual(['rejected', 'microtasks', 'told']);
});
