import { MutationObserver } from '@tanstack/react-query';
import axios from 'axios';
import {
  defineIdempotency,
  mutationOptions,
  outcomeOf,
  createSteadfetch,
  retry,
  shareAcrossTabs,
  type SteadyFetch,
  type Transport,
} from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { describe, expect, test, vi } from 'vitest';
import { mutationStatus } from '../../../../src/core/react-query/status/mutation.ts';
import { instanceOfSteady } from '../../../../src/core/react-query/instance.ts';
import { observe, type Observed } from '../../fetch/observe.ts';
import { createRig, type Rig } from '../rig.tsx';

const base = 'http://localhost:3000';
const doc = '/docs/1';

/** A write, and when it is asked for. */
interface Write {
  readonly method: 'PUT' | 'PATCH' | 'DELETE' | 'POST';
  readonly url?: string;
  readonly text?: string;
}

/** What the server does with a request: `lost` does it, and answers 503. */
type Does = number | 'lost' | 'network' | { readonly status: number; readonly afterMs: number };

/** A server that keeps a text for each URL, and answers as it is told, request by request. */
function createStore(does: readonly Does[], docs: Record<string, string> = { [doc]: 'before' }) {
  const sent: string[] = [];
  const times: number[] = [];
  const startedAt = Date.now();
  const apply = (method: string, path: string, text: string): void => {
    if (method === 'PUT') docs[path] = text;
    else if (method === 'DELETE') delete docs[path];
    else docs[path] = [docs[path], text].filter(Boolean).join('+');
  };
  const fetch: Transport = async (input, init) => {
    const request = new Request(input, init);
    const { pathname, search } = new URL(request.url);
    const text = await request.text();
    const next = does[sent.length] ?? 200;
    sent.push(`${request.method} ${text}`.trim());
    times.push(Date.now() - startedAt);
    const { status, afterMs } = typeof next === 'object' ? next : { status: next, afterMs: 0 };
    if (afterMs > 0) await new Promise((done) => void setTimeout(done, afterMs));
    if (status === 'network') throw new TypeError('Failed to fetch');
    const isDone = status === 'lost' || status === 200 || status === 201;
    if (isDone) apply(request.method, pathname + search, text);
    return new Response('{}', { status: status === 'lost' ? 503 : status });
  };
  return { docs, sent, times, fetch };
}

/** Keys are honoured, so that POST and PATCH are sent again. */
const apis = [{ match: base, idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }];

const initOf = ({ method, text }: Write): RequestInit => ({
  method,
  ...(text !== undefined && { body: text }),
});

/** Everything that sends a write, and sends it again. */
const senders: Readonly<Record<string, (rig: Rig, write: Write) => Promise<unknown>>> = {
  mutationOptions: ({ steady, client }, write) =>
    client
      .getMutationCache()
      .build(
        client,
        mutationOptions(steady, {
          mutationFn: (_: void, { fetch }) => fetch(base + (write.url ?? doc), initOf(write)),
        }),
      )
      .execute(),
  'a plain mutation': ({ steady, client }, write) =>
    new MutationObserver(client, {
      mutationFn: () => steady.fetch(base + (write.url ?? doc), initOf(write)),
    }).mutate(),
  'a plain mutation with axios': ({ steady, client }, write) => {
    vi.spyOn(axios.defaults, 'adapter', 'get').mockReturnValue('fetch');
    const api = axios.create({ adapter: steadyAdapter(steady, axios) });
    return new MutationObserver(client, {
      mutationFn: () =>
        api.request({
          url: base + (write.url ?? doc),
          method: write.method,
          ...(write.text !== undefined && { data: write.text }),
        }),
    }).mutate();
  },
  retry: ({ steady }, write) =>
    retry(steady, ({ signal }) =>
      steady.fetch(base + (write.url ?? doc), { ...initOf(write), signal }),
    ),
};

const patch = (text: string): Write => ({ method: 'PATCH', text });
const put = (text: string): Write => ({ method: 'PUT', text });

interface Run {
  readonly earlier: Write;
  readonly later: Write;
  /** What the server does, request by request. */
  readonly does: readonly Does[];
  readonly docs?: Record<string, string>;
}

async function run(
  sender: (rig: Rig, write: Write) => Promise<unknown>,
  { earlier, later, does, docs }: Run,
) {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const store = createStore(does, docs);
  vi.stubGlobal('fetch', store.fetch);
  const rig = createRig({ fetch: store.fetch, apis });
  const outcomes: string[] = [];
  const track = (name: string, asked: Promise<unknown>): void =>
    void asked.then(
      () => outcomes.push(`${name} done`),
      (error: unknown) => outcomes.push(`${name} ${outcomeOf(error).processed}`),
    );
  track('earlier', sender(rig, earlier));
  await rig.time.advance(300);
  track('later', sender(rig, later));
  await rig.time.advance(30_000);
  return { ...store, outcomes, rig };
}

describe.each(Object.entries(senders))('%s', (name, sender) => {
  const keyed = name === 'mutationOptions';

  test('an autosave whose first draft is answered 503 keeps the second draft, and says of the first that it is not known', async () => {
    const { docs, sent, outcomes } = await run(sender, {
      earlier: put('draft 1'),
      later: put('draft 1, and more'),
      does: [503, 200],
    });
    expect(docs[doc]).toBe('draft 1, and more');
    expect(sent).toEqual(['PUT draft 1', 'PUT draft 1, and more']);
    expect(outcomes.toSorted()).toEqual(['earlier unknown', 'later done']);
  });

  test('a DELETE that was lost does not delete what was made anew at its URL', async () => {
    const { docs, outcomes } = await run(sender, {
      earlier: { method: 'DELETE' },
      later: put('new'),
      does: ['network', 200],
    });
    expect(docs[doc]).toBe('new');
    expect(outcomes.toSorted()).toEqual(['earlier unknown', 'later done']);
  });

  test('a PUT does not bring back what was deleted meanwhile', async () => {
    const { docs } = await run(sender, {
      earlier: put('draft'),
      later: { method: 'DELETE' },
      does: [503, 200],
    });
    expect(docs).toEqual({});
  });

  test('a PUT is sent again where the later write was surely refused', async () => {
    const { docs, outcomes } = await run(sender, {
      earlier: put('draft'),
      later: put('too long'),
      does: [503, 422],
    });
    expect(docs[doc]).toBe('draft');
    expect(outcomes.toSorted()).toEqual(['earlier done', 'later no']);
  });

  test('a PUT waits behind a later write that is under way, and is sent again where that is refused', async () => {
    const { docs, sent } = await run(sender, {
      earlier: put('draft'),
      later: put('slow'),
      does: [503, { status: 422, afterMs: 5000 }],
    });
    expect(sent).toEqual(['PUT draft', 'PUT slow', 'PUT draft']);
    expect(docs[doc]).toBe('draft');
  });

  test('a PUT waits behind a later write that is under way, and is not sent again where that was done', async () => {
    const { docs, sent } = await run(sender, {
      earlier: put('draft'),
      later: put('slow'),
      does: [503, { status: 200, afterMs: 5000 }],
    });
    expect(sent).toEqual(['PUT draft', 'PUT slow']);
    expect(docs[doc]).toBe('slow');
  });

  test('of two that both fail for a while the later one is what is kept', async () => {
    const { docs, outcomes } = await run(sender, {
      earlier: put('draft 1'),
      later: put('draft 2'),
      does: [503, 503],
    });
    expect(docs[doc]).toBe('draft 2');
    expect(outcomes.toSorted()).toEqual(['earlier unknown', 'later done']);
  });

  test('another query string names something else, and both are kept', async () => {
    const { docs } = await run(sender, {
      earlier: { ...put('a'), url: '/docs?id=1' },
      later: { ...put('b'), url: '/docs?id=2' },
      does: [503, 200],
      docs: {},
    });
    expect(docs).toEqual({ '/docs?id=1': 'a', '/docs?id=2': 'b' });
  });

  test.each([
    ['/docs/1', '/docs/1#top'],
    ['/docs/1', '/docs/1/'],
    ['/docs/1', '/x/../docs/1'],
    ['/docs/1', '/docs/%31'],
    ['/docs/~me', '/docs/%7Eme'],
    ['/docs/%7eme', '/docs/%7Eme'],
    ['/docs/a-b_c.d', '/docs/%61%2Db%5Fc%2ed'],
    ['/docs/é', '/docs/%c3%a9'],
    ['/docs/a b', '/docs/a%20b'],
    ['/docs?q=~1', '/docs?q=%7E1'],
    ['/docs/1', '/docs/1?'],
  ])('after a write to %s, a later one to %s is one to the same URL', async (first, url) => {
    const { sent } = await run(sender, {
      earlier: { ...put('draft 1'), url: first },
      later: { ...put('draft 2'), url },
      does: [503, 200],
    });
    expect(sent).toEqual(['PUT draft 1', 'PUT draft 2']);
  });

  test.each([
    ['/docs/a', '/docs/A'],
    ['/docs/a%2Fb', '/docs/a/b'],
    ['/docs/a%3Fb', '/docs/a?b'],
    ['/docs/a%2Cb', '/docs/a,b'],
    ['/docs/%257E', '/docs/~'],
    ['/docs//1', '/docs/1'],
  ])('after a write to %s, a later one to %s is one to another URL', async (first, url) => {
    const { sent } = await run(sender, {
      earlier: { ...put('a'), url: first },
      later: { ...put('b'), url },
      does: [503, 200],
    });
    expect(sent).toEqual(['PUT a', 'PUT b', 'PUT a']);
  });

  test.each<[string, string, Write, Does, number]>([
    ['was undone by', '/docs/1', { method: 'POST', url: '/docs/1/restore' }, 200, 1],
    [
      'was undone by',
      '/docs/1',
      { method: 'POST', url: '/docs/1/restore' },
      { status: 200, afterMs: 5000 },
      1,
    ],
    ['would take with it', '/cart', { method: 'POST', url: '/cart/items', text: 'kite' }, 200, 1],
    ['would take with it', '/docs', { method: 'PUT', url: '/docs/2', text: 'new' }, 200, 1],
    [
      'would take with it',
      '/docs/1',
      { method: 'PATCH', url: '/docs/1/tags?all', text: 'new' },
      200,
      1,
    ],
    ['has nothing to do with', '/docs/1', { method: 'POST', url: '/docs/1/restore' }, 422, 2],
    ['has nothing to do with', '/docs/1', { method: 'DELETE', url: '/docs/1/files/2' }, 200, 2],
    ['has nothing to do with', '/docs/1', { method: 'POST', url: '/docs/10/restore' }, 200, 2],
    ['has nothing to do with', '/docs/1', { method: 'POST', url: '/docs' }, 200, 2],
    ['has nothing to do with', '/docs?id=1', { method: 'POST', url: '/docs/restore' }, 200, 2],
  ])(
    'a DELETE that %s a later write below its URL: %s, %o, answered %o',
    async (_, url, later, answer, times) => {
      const { sent } = await run(sender, {
        earlier: { method: 'DELETE', url },
        later,
        does: [503, answer],
      });
      expect(sent.filter((one) => one === 'DELETE')).toHaveLength(
        times + Number(later.method === 'DELETE'),
      );
    },
  );

  test.runIf(keyed).each<[string, Write, Write, string]>([
    ['a PATCH by a PUT', { method: 'PATCH', text: 'a' }, put('b'), 'b'],
    [
      'a PATCH by a PATCH',
      { method: 'PATCH', text: 'a' },
      { method: 'PATCH', text: 'b' },
      'before+b',
    ],
    [
      'a PATCH by one of its fields',
      patch('{"a":1}'),
      patch('{"b":1,"a":2}'),
      'before+{"b":1,"a":2}',
    ],
    [
      'a PATCH by one of no known fields',
      patch('{"a":1}'),
      patch('[{"op":"x"}]'),
      'before+[{"op":"x"}]',
    ],
    ['a PATCH of no known fields by another', patch('null'), patch('{"a":2}'), 'before+{"a":2}'],
    ['a PATCH of a field by a PUT', patch('{"a":1}'), put('b'), 'b'],
    ['a PATCH of a field by a POST', patch('{"a":1}'), { method: 'POST', text: 'b' }, 'before+b'],
    ['a POST by a PUT', { method: 'POST', text: 'a' }, put('b'), 'b'],
    ['a PUT by a POST', put('a'), { method: 'POST', text: 'b' }, 'before+b'],
  ])('%s is superseded', async (_, earlier, later, kept) => {
    const { docs, outcomes } = await run(sender, { earlier, later, does: [503, 200] });
    expect(docs[doc]).toBe(kept);
    expect(outcomes.toSorted()).toEqual(['earlier unknown', 'later done']);
  });

  test.runIf(keyed)('a PATCH is sent again after one of other fields: both count', async () => {
    const { docs, outcomes } = await run(sender, {
      earlier: patch('{"dark":true}'),
      later: patch('{"mail":true,"phone":false}'),
      does: [503, 200],
    });
    expect(docs[doc]).toBe('before+{"mail":true,"phone":false}+{"dark":true}');
    expect(outcomes.toSorted()).toEqual(['earlier done', 'later done']);
  });

  test('a DELETE is sent again after another, and finds nothing: both are done', async () => {
    const { docs, sent, outcomes } = await run(sender, {
      earlier: { method: 'DELETE' },
      later: { method: 'DELETE' },
      does: [503, 200, 404],
    });
    expect(docs).toEqual({});
    expect(sent).toEqual(['DELETE', 'DELETE', 'DELETE']);
    // axios makes its own answer of a 404.
    const earlier = name.endsWith('axios') ? 'earlier unknown' : 'earlier done';
    expect(outcomes.toSorted()).toEqual([earlier, 'later done']);
  });

  test.runIf(keyed).each<[string, Write, string]>([
    ['a POST', { method: 'POST', text: 'b' }, 'before+b+a'],
    ['a PATCH', { method: 'PATCH', text: 'b' }, 'before+b+a'],
  ])('a POST with a key is sent again after %s: both count', async (_, later, kept) => {
    const { docs, outcomes, times } = await run(sender, {
      earlier: { method: 'POST', text: 'a' },
      later,
      does: [503, 200],
    });
    expect(docs[doc]).toBe(kept);
    expect(outcomes.toSorted()).toEqual(['earlier done', 'later done']);
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBe(500);
  });
});

test('a PUT with a precondition is sent again: its server refuses it', async () => {
  const { sent } = await run(
    (rig, { method, text = '' }) =>
      retry(rig.steady, ({ signal }) =>
        rig.steady.fetch(base + doc, {
          method,
          body: text,
          headers: { 'If-Match': '"1"' },
          signal,
        }),
      ),
    { earlier: put('a'), later: put('b'), does: [{ status: 503, afterMs: 400 }, 200, 412] },
  );
  expect(sent).toEqual(['PUT a', 'PUT b', 'PUT a']);
});

test('a DELETE does not delete what a POST has made at its URL meanwhile, as its Location says', async () => {
  const docs = new Map([['/docs/1', 'before']]);
  const sent: string[] = [];
  const rig = createRig({
    fetch: async (input, init) => {
      const { method } = new Request(input, init);
      sent.push(method);
      if (sent.length === 1) return new Response(null, { status: 503 });
      if (method === 'DELETE') docs.delete('/docs/1');
      else docs.set('/docs/1', 'new');
      return new Response('{}', { status: 201, headers: { Location: '/docs/1' } });
    },
  });
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const deleted = retry(rig.steady, ({ signal }) =>
    rig.steady.fetch(`${base}/docs/1`, { method: 'DELETE', signal }),
  ).catch((error: unknown) => outcomeOf(error).kind);
  await rig.time.advance(300);
  await rig.steady.fetch(`${base}/docs`, { method: 'POST' });
  await rig.time.advance(10_000);
  expect(docs.get('/docs/1')).toBe('new');
  expect(await deleted).toBe('superseded');
});

test('a status of a mutation that was superseded says so, and a warning names the remedy', async () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const store = createStore([503, 200]);
  const rig = createRig({ fetch: store.fetch, apis });
  const save = (text: string) => {
    const { client, steady } = rig;
    const mutation = client.getMutationCache().build(
      client,
      mutationOptions(steady, {
        mutationFn: (_: void, { fetch }: { readonly fetch: SteadyFetch }) =>
          fetch(base + doc, { method: 'PUT', body: text }),
      }),
    );
    mutation.execute().catch(() => {});
    return () =>
      mutationStatus(
        mutation as never,
        client.getMutationCache(),
        instanceOfSteady(steady, 'test'),
        undefined,
      );
  };
  const first = save('draft 1');
  await rig.time.advance(300);
  expect(first()).toMatchObject({ status: 'waiting' });
  const second = save('draft 2');
  await rig.time.advance(0);
  expect(first()).toMatchObject({ status: 'unknown', reason: 'superseded' });
  expect(second()).toMatchObject({ status: 'succeeded' });
  expect(warned.mock.calls.map(([text]) => String(text))).toEqual([
    expect.stringMatching(/PUT http:\/\/localhost:3000\/docs\/1 was not sent.*scope/),
  ]);
});

describe('in another tab', () => {
  /** Two tabs: the first has sent a draft that was answered 503, and the second saves another one 300 ms later. */
  async function openTwo(does: readonly Does[], diesAfterMs = 60_000) {
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    const store = createStore(does);
    const receivers = new Set<(message: unknown) => void>();
    const tabs = () =>
      shareAcrossTabs({
        open(_, receive) {
          receivers.add(receive);
          return {
            post: (message) =>
              [...receivers].filter((one) => one !== receive).forEach((one) => one(message)),
            close: () => void receivers.delete(receive),
          };
        },
        watch(listener) {
          listener('visible');
          return () => {};
        },
      });
    const rig = createRig({ fetch: store.fetch, tabs: tabs() });
    const other = createSteadfetch({
      fetch: store.fetch,
      tabs: tabs(),
      random: () => 0.25,
      health: false,
    });
    const ends: string[] = [];
    const save = (steady: Rig['steady'], text: string): void =>
      void retry(steady, ({ signal }) =>
        steady.fetch(base + doc, { method: 'PUT', body: text, signal }),
      ).then(
        () => ends.push(`${text} done`),
        (error: unknown) => ends.push(`${text} ${outcomeOf(error).processed}`),
      );
    save(rig.steady, 'draft 1');
    await rig.time.advance(300);
    save(other, 'draft 2');
    await rig.time.advance(diesAfterMs);
    // It says nothing more.
    other.dispose();
    await rig.time.advance(60_000 - diesAfterMs);
    return { ...store, ends };
  }

  test('a later write that was done is not undone', async () => {
    const { docs, ends } = await openTwo([503, 200]);
    expect(docs[doc]).toBe('draft 2');
    expect(ends.toSorted()).toEqual(['draft 1 unknown', 'draft 2 done']);
  });

  test('a later write that is under way is waited for', async () => {
    const { sent } = await openTwo([503, { status: 200, afterMs: 5000 }]);
    expect(sent).toEqual(['PUT draft 1', 'PUT draft 2']);
  });

  test('a later write that was refused is no obstacle', async () => {
    const { docs, ends } = await openTwo([503, { status: 422, afterMs: 5000 }]);
    expect(docs[doc]).toBe('draft 1');
    expect(ends).toEqual(['draft 2 no', 'draft 1 done']);
  });

  test('a tab that has died counts as one that may have written', async () => {
    const { sent, ends } = await openTwo([503, { status: 200, afterMs: 3_600_000 }], 1000);
    expect(sent.filter((one) => one === 'PUT draft 1')).toHaveLength(1);
    expect(ends.toSorted()).toEqual(['draft 1 unknown', 'draft 2 done']);
  });
});

test('a retry that its app aborts while it waits behind a later write ends, and is not sent', async () => {
  const store = createStore([503, { status: 422, afterMs: 5000 }]);
  const { steady, client, time } = createRig({ fetch: store.fetch, apis });
  const caller = new AbortController();
  const attempts: Observed[] = [];
  const save = (text: string, signal?: AbortSignal): void => {
    const options = mutationOptions(steady, {
      mutationFn: (_: void, { fetch }) => {
        const sent = fetch(base + doc, { ...initOf(put(text)), ...(signal && { signal }) });
        attempts.push(observe(sent));
        return sent;
      },
    });
    void client
      .getMutationCache()
      .build(client, options)
      .execute()
      .catch(() => {});
  };
  save('draft', caller.signal);
  await time.advance(300);
  save('slow');
  await time.advance(2000);
  expect(attempts.map(({ state }) => state)).toEqual(['rejected', 'pending', 'pending']);
  const reason = new Error('The page was closed.');
  caller.abort(reason);
  await time.advance(50);
  expect(attempts[2]).toMatchObject({ state: 'rejected', error: reason });
  await time.advance(30_000);
  expect(store.sent).toEqual(['PUT draft', 'PUT slow']);
});
