import { createSteadfetch, type Transport } from 'steadfetch';
import { afterEach, expect, inject, test, vi } from 'vitest';
import { rejectionOf } from '../fetch/observe.ts';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

afterEach(() => document.body.replaceChildren());

/** The fetch and the document of a page whose Content-Security-Policy lets it connect to itself only. */
async function openStrictPage(): Promise<{ fetch: Transport; document: Document }> {
  const frame = document.createElement('iframe');
  frame.srcdoc = `<meta http-equiv="Content-Security-Policy" content="connect-src 'self'">`;
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve));
  document.body.append(frame);
  await loaded;
  const page = frame.contentWindow as Window & typeof globalThis;
  return { fetch: page.fetch.bind(page), document: page.document };
}

test("what the page's own CSP forbids is never sent", async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const page = await openStrictPage();
  const talk = openTalk(origin, 'ok');
  const error = await rejectionOf(createSteadfetch({ fetch: page.fetch }).fetch(talk.url));
  expect(error).toMatchObject({ cause: { name: 'TypeError' } });
  expect((await talk.log()).requests).toHaveLength(0);
});

test('the browser tells of a CSP block only one task after it has rejected the fetch', async () => {
  const page = await openStrictPage();
  const { url } = openTalk(origin, 'ok');
  const order: string[] = [];
  const told = new Promise<SecurityPolicyViolationEvent>((resolve) => {
    page.document.addEventListener('securitypolicyviolation', (event) => {
      order.push('told');
      resolve(event);
    });
  });
  await page.fetch(url).catch(() => order.push('rejected'));
  order.push('microtasks');
  expect(await told).toMatchObject({ blockedURI: url, effectiveDirective: 'connect-src' });
  expect(order).toEqual(['rejected', 'microtasks', 'told']);
});
