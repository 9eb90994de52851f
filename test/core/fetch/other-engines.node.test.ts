import { createSteadfetch, outcomeOf } from 'steadfetch';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { rejectionOf } from './observe.ts';

// What Firefox and WebKit do, and Chromium does not: `npm run browsers` asks them.

const page = new EventTarget();

beforeEach(() => {
  vi.stubGlobal('SecurityPolicyViolationEvent', Event);
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
  onTestFinished(() => void vi.unstubAllGlobals());
});

const invalid = { kind: 'invalid', processed: 'no' };
const url = 'https://shop.example/orders';
const post = (body: BodyInit): RequestInit => ({ method: 'POST', body });

/** How a request fails, and what of it was sent. */
async function failureOf(init: RequestInit, answer: () => Promise<Response>) {
  const fetch = vi.fn<(input: RequestInfo | URL, init?: RequestInit) => Promise<Response>>(answer);
  const steady = createSteadfetch({ fetch });
  onTestFinished(() => steady.dispose());
  const error = await rejectionOf(steady.fetch(url, init));
  return { message: (error as Error).message, outcome: outcomeOf(error), sent: fetch.mock.calls };
}

test('a block that the browser reports long before it rejects is known: WebKit, and Firefox after a redirect', async () => {
  const { outcome } = await failureOf({}, async () => {
    const report = { blockedURI: url, disposition: 'enforce', effectiveDirective: 'connect-src' };
    page.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), report));
    for (let turn = 0; turn < 5; turn += 1) await new Promise((passed) => setImmediate(passed));
    throw new TypeError('Load failed');
  });
  expect(outcome).toEqual(invalid);
});

test.each([
  ['is only reported', { disposition: 'report' }],
  ['is of an image', { effectiveDirective: 'img-src' }],
  ['is of another request', { blockedURI: `${url}/17` }],
])('a block that %s says nothing of a request without an answer', async (_, other) => {
  const { outcome } = await failureOf({}, async () => {
    const report = { blockedURI: url, disposition: 'enforce', effectiveDirective: 'connect-src' };
    page.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), report, other));
    throw new TypeError('Load failed');
  });
  expect(outcome).toEqual({ kind: 'network', processed: 'unknown' });
});

test('what the browser says of a block comes one task after its rejection, and without the fragment', async () => {
  const steady = createSteadfetch({
    fetch: () => {
      setImmediate(() => {
        const report = {
          blockedURI: url,
          disposition: 'enforce',
          effectiveDirective: 'connect-src',
        };
        page.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), report));
      });
      return Promise.reject(new TypeError('Failed to fetch'));
    },
  });
  onTestFinished(() => steady.dispose());
  expect(outcomeOf(await rejectionOf(steady.fetch(`${url}#top`)))).toEqual(invalid);
});

const long = 'x'.repeat(65_537);

test.each<[string, RequestInit, string]>([
  [
    'with keepalive, a body has at most 65536 bytes',
    { ...post(long), keepalive: true },
    'steady.fetch: not sent, because with keepalive, a body has at most 65536 bytes.',
  ],
  [
    'its mode is same-origin',
    { mode: 'same-origin' },
    'steady.fetch: not sent, because its mode is same-origin, and https://shop.example is another origin.',
  ],
])('a rule of fetch is named, which the error of the browser is not: %s', async (_, init, text) => {
  const { message, outcome } = await failureOf(init, () => Promise.reject(new TypeError('?')));
  expect([message, outcome]).toEqual([text, invalid]);
});

test.each<[string, RequestInit]>([
  ['a body of just so many bytes', { ...post(long.slice(1)), keepalive: true }],
  ['a longer one without keepalive', post(long)],
])('%s may have been sent', async (_, init) => {
  const { outcome } = await failureOf(init, () => Promise.reject(new TypeError('?')));
  expect(outcome).toEqual({ kind: 'network', processed: 'unknown' });
});

/** A selected file that has changed since, of which each part reads as this. */
function changedFile(read: (part: Blob) => Promise<ArrayBuffer>): File {
  const file = new File(['a report'], 'report.txt');
  const { slice } = file;
  file.slice = (...given) => {
    const part = slice.apply(file, given);
    return Object.assign(part, { arrayBuffer: () => read(part) });
  };
  return file;
}

const withFile = (file: File): FormData => {
  const form = new FormData();
  // A form copies it, so the form hands out this one.
  form.values = () => [file].values();
  return form;
};

const never = (): Promise<Response> => new Promise(() => {});
const rejects = changedFile(() => Promise.reject(new DOMException('', 'NotFoundError')));
// Firefox reads what is left.
const isShorter = changedFile(async () => new ArrayBuffer(0));

test.each([
  ['in WebKit', rejects],
  ['in a form in WebKit', withFile(rejects)],
  ['in Firefox', isShorter],
  ['in a form in Firefox', withFile(isShorter)],
])('a file that was changed is not sent, where its request would hang: %s', async (_, body) => {
  const { message, outcome, sent } = await failureOf(post(body), never);
  expect(message).toBe('The file "report.txt" was changed, moved or removed. Select it again.');
  expect(outcome).toEqual(invalid);
  expect(sent).toEqual([]);
});

test('a request with keepalive goes at once, whatever its body: the page may be gone by then', async () => {
  const fetch = vi.fn<typeof globalThis.fetch>(async () => new Response());
  const steady = createSteadfetch({ fetch });
  onTestFinished(() => steady.dispose());
  const sent = steady.fetch(url, { ...post(rejects), keepalive: true });
  expect(fetch).toHaveBeenCalledTimes(1);
  await sent;
});

test('a request that is aborted while its file is read is not sent', async () => {
  const controller = new AbortController();
  let goOn = (): void => {};
  const waiting = new Promise<void>((over) => (goOn = over));
  const slow = changedFile(async (part) => {
    await waiting;
    return new ArrayBuffer(part.size);
  });
  const fetch = vi.fn<typeof globalThis.fetch>(async () => new Response());
  const steady = createSteadfetch({ fetch });
  onTestFinished(() => steady.dispose());
  const thrown = rejectionOf(steady.fetch(url, { ...post(slow), signal: controller.signal }));
  const reason = new Error('The user went away.');
  await new Promise((passed) => setImmediate(passed));
  controller.abort(reason);
  expect(await thrown).toBe(reason);
  goOn();
  await new Promise((passed) => setImmediate(passed));
  expect(fetch).not.toHaveBeenCalled();
});
