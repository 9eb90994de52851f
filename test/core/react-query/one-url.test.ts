import { QueryObserver } from '@tanstack/react-query';
import { profiles, retry, type SteadfetchConfig, type SteadyInit } from 'steadfetch';
import { expect, test } from 'vitest';
import { observe } from '../fetch/observe.ts';
import { createRig, type Rig } from './rig.tsx';

const url = 'http://api.example/graphql';
const post = (name: string): SteadyInit => ({ method: 'POST', body: `{"query":"query ${name}"}` });

/** Answers after 50 ms, and 503 to whatever names the broken operation. */
async function answer(_input: unknown, init: RequestInit = {}): Promise<Response> {
  await new Promise((resolve) => setTimeout(resolve, 50));
  const isBroken = typeof init.body === 'string' && init.body.includes('broken');
  return Response.json('data', { status: isBroken ? 503 : 200 });
}

function openPage(config: SteadfetchConfig = {}): Rig {
  return createRig({ health: {}, fetch: answer, ...config });
}

type Read = (rig: Rig, name: string) => Promise<unknown>;

const ask = (rig: Rig, name: string, queryFn: (signal: AbortSignal) => Promise<unknown>) =>
  new Promise((resolve) => {
    const options = {
      queryKey: [name],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => queryFn(signal),
    };
    new QueryObserver<unknown>(rig.client, options).subscribe(({ data }) => {
      if (data !== undefined) resolve(data);
    });
  });

// All reads of GraphQL, of JSON-RPC or of a search have one URL, and one of them may be broken by itself.
test.each<[how: string, read: Read]>([
  ['of a query', (rig, name) => ask(rig, name, () => rig.steady.json(url, post(name)))],
  [
    'of a query, after an await',
    (rig, name) =>
      ask(rig, name, async (signal) => {
        await Promise.resolve();
        return rig.steady.json(url, { ...post(name), signal });
      }),
  ],
  [
    'of another client in a query',
    (rig, name) =>
      ask(rig, name, async (signal) => {
        const response = await rig.steady.rawFetch(url, { ...post(name), signal });
        if (!response.ok) throw new Error('refused');
        return response.json();
      }),
  ],
  [
    'by QUERY',
    (rig, name) => ask(rig, name, () => rig.steady.json(url, { ...post(name), method: 'QUERY' })),
  ],
  [
    'in a loader, and said to be idempotent',
    (rig, name) =>
      retry(rig.steady, ({ signal }) =>
        rig.steady.json(url, { ...post(name), signal, idempotent: true }),
      ),
  ],
])(
  'beside a read that always fails, another read of its URL goes at once: %s',
  async (_how, read) => {
    const rig = openPage();
    void read(rig, 'broken').catch(() => {});
    await rig.time.advance(5000);
    const took: number[] = [];
    for (const name of ['a', 'b', 'a2', 'b2']) {
      const from = rig.elapsed();
      void read(rig, name).then(() => took.push(rig.elapsed() - from));
      await rig.time.advance(1000);
    }
    expect(took).toEqual([50, 50, 50, 50]);
  },
);

test('a write waits, whatever its body: its endpoint is down', async () => {
  const rig = openPage({ apis: [{ match: url, idempotency: profiles.draft }] });
  const write = (name: string) =>
    observe(
      retry(rig.steady, ({ signal }) =>
        rig.steady.fetch(url, { ...post(name), signal, idempotencyKey: name }),
      ),
    );
  write('broken');
  await rig.time.advance(5000);
  const other = write('other');
  await rig.time.advance(500);
  expect(other.state).toBe('pending');
});
