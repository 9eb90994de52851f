import { createSteadfetch, outcomeOf, refreshOn401 } from 'steadfetch';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { isSimple } from '../../../src/axios/progress.ts';
import { isReachable } from '../../../src/core/connectivity/reach.ts';
import { systemTransport } from '../../../src/core/lib/clock.ts';
import { rejectionOf } from './observe.ts';

// The origin of a page is `origin`, and not that of its URL.

const site = 'https://app.example';
const page = new EventTarget();

beforeEach(() => {
  vi.stubGlobal('SecurityPolicyViolationEvent', Event);
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  vi.stubGlobal('removeEventListener', page.removeEventListener.bind(page));
});
afterEach(() => void vi.unstubAllGlobals());

describe.each<[string, string, string, boolean]>([
  ['a page', site, `${site}/page`, true],
  ['a frame of srcdoc', site, 'about:srcdoc', true],
  ['a sandboxed frame', 'null', `${site}/page`, false],
  ['a page with a sandbox in its policy', 'null', `${site}/page`, false],
])('in %s', (_name, origin, href, isOwn) => {
  const enter = (answer: () => Promise<Response>) => {
    vi.stubGlobal('origin', origin);
    vi.stubGlobal('location', new URL(href));
    const fetch =
      vi.fn<(input: RequestInfo | URL, init?: RequestInit) => Promise<Response>>(answer);
    vi.stubGlobal('fetch', fetch);
    return fetch.mock.calls;
  };

  test('credentials of a header of their own reach its site', async () => {
    const sent = enter(async () => new Response('{}'));
    const steady = createSteadfetch({
      apis: [
        {
          match: site,
          auth: refreshOn401({ headers: () => ({ 'x-token': 't' }), refresh: () => false }),
        },
      ],
    });
    onTestFinished(() => steady.dispose());
    await steady.fetch(`${site}/a`);
    // A request of the mode `same-origin` to another origin is refused.
    expect(sent[0]?.[1]).toMatchObject(isOwn ? { mode: 'same-origin' } : { redirect: 'manual' });
  });

  test('its site is asked for any answer', async () => {
    const sent = enter(async () =>
      Object.defineProperty(new Response(), 'type', { value: 'opaque' }),
    );
    expect(await isReachable(systemTransport, site)).toBe(true);
    // Of another origin, browsers follow redirects only.
    expect(sent[0]?.[1]?.redirect).toBe(isOwn ? 'manual' : 'follow');
  });

  test('the mode same-origin is said to be the reason, if it is', async () => {
    enter(() => Promise.reject(new TypeError('Failed to fetch')));
    const steady = createSteadfetch();
    onTestFinished(() => steady.dispose());
    const error = await rejectionOf(steady.fetch(`${site}/a`, { mode: 'same-origin' }));
    expect(outcomeOf(error)?.kind).toBe(isOwn ? 'network' : 'invalid');
  });

  test('a listener on the upload of axios is left out where it would cause a preflight', () => {
    enter(async () => new Response());
    expect(isSimple('POST', `${site}/a`, new Headers())).toBe(!isOwn);
  });
});
