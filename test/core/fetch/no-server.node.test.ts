import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, outcomeOf, watchConnectivity } from 'steadfetch';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { instanceOf } from '../../../src/core/react-query/instance.ts';
import { answer, fakeServer, origin, refuse } from './fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from './observe.ts';

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

test.each<[string, string | Request, RequestInit | (() => RequestInit)]>([
  ['an answer of another origin than the only one that is wanted', url, { mode: 'same-origin' }],
  ['a quota of keepalive that others use up', url, { keepalive: true }],
  ['a stream that fails', url, stream],
  ['a hash that is another', url, { integrity: 'sha256-abc' }],
  ['a redirect that is an error', url, { redirect: 'error' }],
  ['such a Request', new Request(url, { redirect: 'error' }), {}],
])('%s says nothing of the server or the network, however often', async (_, input, init) => {
  const { steady, connectivity } = create();
  for (let count = 0; count < 12; count++)
    expect(
      await rejectionOf(steady.fetch(input, typeof init === 'function' ? init() : init)),
    ).toMatchObject({ code: 'network' });
  expect(connectivity?.getState().status).toBe('online');
  const next = observe(steady.fetch(url));
  await settled();
  expect(next.state).toBe('resolved');
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
