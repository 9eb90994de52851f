import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, outcomeOf, watchConnectivity } from 'steadfetch';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { instanceOf } from '../../../src/core/react-query/instance.ts';
import { answer, fakeServer, origin, refuse } from './fake-server.ts';
import { fakeTime, observe, type Observed, rejectionOf, settled } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;
const half = { duplex: 'half' };

function create() {
  const server = fakeServer(
    ...(Array.from({ length: 12 }, () => refuse) as [typeof refuse]),
    answer(),
  );
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    connectivity: watchConnectivity(),
  });
  onTestFinished(() => steady.dispose());
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  return { steady, server, ...instanceOf(client, 'test') };
}

const stream = (): RequestInit => ({ method: 'POST', body: new ReadableStream(), ...half });
const asked = (body: BodyInit, type?: string): Request =>
  new Request(url, { method: 'POST', body, ...(type && { headers: { 'content-type': type } }) });
const fromHttps = (target: string) => (): string => {
  vi.stubGlobal('location', new URL('https://shop.example/'));
  return target;
};

/** Whether a request goes at once after twelve of these without an answer, what is known of the network, and the last error. */
async function askAfter(input: () => string | Request, init: () => RequestInit) {
  onTestFinished(() => void vi.unstubAllGlobals());
  const { steady, connectivity } = create();
  const target = input();
  const first = new URL(typeof target === 'string' ? target : target.url);
  let last: Observed | undefined;
  for (let count = 0; count < 12; count++) {
    last = observe(steady.fetch(input(), init()));
    await settled();
  }
  const next = observe(steady.fetch(first));
  await settled();
  return [next.state, connectivity?.getState().status, last?.error];
}

test.each<[string, () => string | Request, () => RequestInit]>([
  [
    'an answer of another origin than the only one that is wanted',
    () => url,
    () => ({ mode: 'same-origin' }),
  ],
  ['a quota of keepalive that others use up', () => url, () => ({ keepalive: true })],
  ['a stream that fails', () => url, stream],
  ['a hash that is another', () => url, () => ({ integrity: 'sha256-abc' })],
  ['a redirect that is an error', () => url, () => ({ redirect: 'error' })],
  ['such a Request', () => new Request(url, { redirect: 'error' }), () => ({})],
  ['a file in a Request', () => asked(new Blob(['a'])), () => ({})],
  ['a file of text in a Request', () => asked(new Blob(['a'], { type: 'text/plain' })), () => ({})],
  ['a film in a Request', () => asked(new Blob(['a'], { type: 'video/mp4' })), () => ({})],
  ['http from a page with TLS', fromHttps('http://api.example/items'), () => ({})],
])('%s says nothing of the server or the network, however often', async (_, input, init) => {
  const [state, network, error] = await askAfter(input, init);
  expect([state, network]).toEqual(['resolved', 'online']);
  expect(error).toMatchObject({ code: 'network' });
});

test.each<[string, () => string | Request, () => RequestInit]>([
  ['a text', () => url, () => ({ method: 'POST', body: 'a' })],
  ['a text in a Request', () => asked('a'), () => ({})],
  ['a form in a Request', () => asked(new URLSearchParams({ a: 'b' })), () => ({})],
  ['JSON in a Request', () => asked('{}', 'application/json'), () => ({})],
  [
    'a Request of a file, which a text replaces',
    () => asked(new Blob(['a'])),
    () => ({ body: 'a' }),
  ],
  ['a Request without a body', () => new Request(url), () => ({})],
  ['https from a page with TLS', fromHttps('https://api.example/items'), () => ({})],
  ['the own machine from a page with TLS', fromHttps('http://localhost:3000/items'), () => ({})],
  ['its address', fromHttps('http://127.0.0.1:3000/items'), () => ({})],
  ['its address in IPv6', fromHttps('http://[::1]:3000/items'), () => ({})],
])('%s that has no answer often makes the network suspect', async (_, input, init) => {
  const [, network] = await askAfter(input, init);
  expect(network).toBe('suspect');
});

test.each(['data:text/plain,content', `blob:${origin}/0e3`, 'DATA:,'])(
  'a URL such as %s is no origin, whose state would be kept',
  async (local) => {
    const { steady, origins, connectivity } = create();
    const error = await rejectionOf(steady.fetch(local));
    expect(outcomeOf(error)).toEqual({ kind: 'invalid', processed: 'no' });
    expect([origins.known(), connectivity?.getState().status]).toEqual([[], 'online']);
  },
);
