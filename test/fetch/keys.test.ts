import {
  type ApiProfile,
  createSteadfetch,
  idempotencyProfiles,
  type SteadyFetch,
} from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deriveKey } from '../../src/policy/idempotency-key.ts';
import { answer, fakeServer, type Handler, origin, refuse } from './fake-server.ts';
import { fakeTime, rejectionOf } from './observe.ts';
import { createSubmitter, intentKey } from './submit.ts';

let warnings: string[];
beforeEach(() => {
  fakeTime();
  warnings = [];
  vi.spyOn(console, 'warn').mockImplementation((text: string) => void warnings.push(text));
});
afterEach(() => void vi.restoreAllMocks());

const draft: ApiProfile = { match: origin, idempotency: idempotencyProfiles.draft };
const post = (body?: string) => ({ method: 'POST', ...(body !== undefined && { body }) });

function open(apis: readonly ApiProfile[], ...handlers: readonly [Handler, ...Handler[]]) {
  const server = fakeServer(...handlers);
  const steady = createSubmitter(server.fetch, apis);
  const keys = (name = 'idempotency-key') =>
    server.requests.map(({ headers }) => headers.get(name));
  const sent = () =>
    Promise.all(
      server.requests.map(async (request) => [
        `${request.method} ${request.url.slice(origin.length).replace(/#.*/, '')}`,
        request.headers.get('idempotency-key'),
        await request.clone().text(),
      ]),
    );
  return { ...steady, server, keys, sent };
}

const quoted = (key: string): string => `"${key}"`;
const derived = (name: string): string => quoted(deriveKey(intentKey, name));

describe('within an intent', () => {
  test('a POST has the key on attempt 1, and the same on every other', async () => {
    const { submit, keys } = open([draft], refuse, refuse, answer(201));
    const { attempts } = await submit((fetch) => fetch(`${origin}/orders`, post('{}')));
    expect(attempts).toBe(3);
    expect(keys()).toEqual([quoted(intentKey), quoted(intentKey), quoted(intentKey)]);
  });

  test.each([
    ['GET', null],
    ['PUT', null],
    ['DELETE', null],
    ['PATCH', quoted(intentKey)],
    ['POST', quoted(intentKey)],
  ])('a %s has the key %s', async (method, key) => {
    const { submit, keys } = open([draft], answer());
    await submit((fetch) => fetch(origin, { method }));
    expect(keys()).toEqual([key]);
  });

  test('a method that needs none gets one where it is asked for', async () => {
    const { submit, keys } = open([draft], answer());
    await submit((fetch) => fetch(origin, { method: 'DELETE', idempotencyKey: 'remove' }));
    expect(keys()).toEqual([quoted(intentKey)]);
  });

  test('a POST that is declared idempotent needs none: by the call, or by its API', async () => {
    const { submit, keys } = open([{ ...draft, idempotent: true }], answer());
    await submit((fetch) => fetch(origin, post()));
    await submit((fetch) => fetch(origin, { ...post(), idempotent: true }));
    expect(keys()).toEqual([null, null]);
  });

  test('the first request has the key itself, the others keys derived from it', async () => {
    const { submit, sent } = open([draft], answer(), answer(), answer(), refuse, answer());
    await submit(async (fetch) => {
      await fetch(`${origin}/orders`, post('1'));
      await fetch(new URL(`${origin}/orders#here`), post('2'));
      await fetch(`${origin}/pay`, { ...post('3'), method: 'PATCH' });
      await fetch(`${origin}/mail`, post('4'));
    });
    const all = [
      ['POST /orders', quoted(intentKey), '1'],
      ['POST /orders', derived(`POST ${origin}/orders 2`), '2'],
      ['PATCH /pay', derived(`PATCH ${origin}/pay 1`), '3'],
      ['POST /mail', derived(`POST ${origin}/mail 1`), '4'],
    ];
    expect(await sent()).toEqual([...all, ...all]);
  });

  test('a retry that skips a finished step sends the others with the keys they had', async () => {
    const { submit, sent } = open([draft], answer(), refuse, answer());
    await submit(async (fetch, attempt) => {
      if (attempt === 1) await fetch(`${origin}/orders`, post('1'));
      await fetch(`${origin}/pay`, post('2'));
    });
    const pay = ['POST /pay', derived(`POST ${origin}/pay 1`), '2'];
    expect(await sent()).toEqual([['POST /orders', quoted(intentKey), '1'], pay, pay]);
  });

  test('so does one that skips one of several to the same URL: the bytes tell which it is', async () => {
    const { submit, sent } = open([draft], answer(), refuse, answer());
    await submit(async (fetch, attempt) => {
      if (attempt === 1) await fetch(`${origin}/items`, post('a'));
      await fetch(`${origin}/items`, post('b'));
    });
    const second = ['POST /items', derived(`POST ${origin}/items 2`), 'b'];
    expect(await sent()).toEqual([['POST /items', quoted(intentKey), 'a'], second, second]);
  });

  test('of equal ones, one that is not done comes first', async () => {
    const { submit, keys } = open([draft], answer(), refuse, answer());
    await submit(async (fetch, attempt) => {
      if (attempt === 1) await fetch(`${origin}/items`, post('a'));
      await fetch(`${origin}/items`, post('a'));
    });
    const second = derived(`POST ${origin}/items 2`);
    expect(keys()).toEqual([quoted(intentKey), second, second]);
  });

  test('where neither order nor bytes tell, it is refused and not sent under the key of another', async () => {
    const { submit, server } = open([draft], answer(), refuse, answer());
    const { error, attempts } = await submit(async (fetch, attempt) => {
      await fetch(`${origin}/items?x=1`, post(`a${attempt}`));
      await fetch(`${origin}/items?x=1`, post(`b${attempt}`));
    });
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(
        /^steady\.fetch: idempotencyKey is undefined, and must be a name for each of the requests of this mutation to POST http:\/\/localhost:3000\/items: /,
      ),
    );
    expect(attempts).toBe(2);
    expect(server.requests).toHaveLength(2);
  });

  test('a request that a later attempt is the first to reach has a key of its own', async () => {
    const { submit, sent } = open([draft], refuse, answer());
    await submit(async (fetch) => {
      await fetch(`${origin}/items`, post('a'));
      await fetch(`${origin}/items`, post('b'));
    });
    const first = ['POST /items', quoted(intentKey), 'a'];
    const second = ['POST /items', derived(`POST ${origin}/items 2`), 'b'];
    expect(await sent()).toEqual([first, first, second]);
  });

  test('those with a name are not counted among those without', async () => {
    const { submit, keys } = open([draft], answer(), refuse, answer());
    await submit(async (fetch, attempt) => {
      if (attempt === 1) await fetch(`${origin}/items`, { ...post('a'), idempotencyKey: 'one' });
      await fetch(`${origin}/items`, post(`b${attempt}`));
    });
    const second = derived(`POST ${origin}/items 1`);
    expect(keys()).toEqual([quoted(intentKey), second, second]);
  });

  test('named steps are known by their names', async () => {
    const { submit, sent } = open([draft], answer(), refuse, answer());
    await submit(async (fetch, attempt) => {
      if (attempt === 1) await fetch(`${origin}/items`, { ...post('a'), idempotencyKey: 'one' });
      await fetch(`${origin}/items`, { ...post(`b${attempt}`), idempotencyKey: 'two' });
    });
    expect(await sent()).toEqual([
      ['POST /items', quoted(intentKey), 'a'],
      ['POST /items', derived('#two'), 'b1'],
      ['POST /items', derived('#two'), 'b1'],
    ]);
    expect(warnings).toEqual([
      expect.stringContaining(
        'POST http://localhost:3000/items: this attempt was given another body',
      ),
    ]);
  });

  test.each([
    ['two bodies', (fetch: SteadyFetch) => fetch(origin, { ...post('b'), idempotencyKey: 'pay' })],
    [
      'two URLs',
      (fetch: SteadyFetch) => fetch(`${origin}/b`, { ...post('a'), idempotencyKey: 'pay' }),
    ],
  ])('one name for %s is refused, and is not sent again', async (_, second) => {
    const { submit, server } = open([draft], answer());
    const { error, attempts, live } = await submit(async (fetch) => {
      await fetch(origin, { ...post('a'), idempotencyKey: 'pay' });
      await second(fetch);
    });
    expect(error).toHaveProperty(
      'message',
      "steady.fetch: idempotencyKey is 'pay', and must be the key of one request, and here are two with different content.",
    );
    expect(live.decision).toMatchObject({ kind: 'stop', reason: 'not-retryable' });
    expect([attempts, server.requests.length]).toEqual([1, 1]);
  });

  test('a named step may be sent twice in one attempt: it is the same step', async () => {
    const { submit, keys } = open([draft], refuse, answer());
    await submit(async (fetch) => {
      const pay = () => fetch(origin, { ...post('a'), idempotencyKey: 'pay' });
      await pay().catch(pay);
    });
    expect(keys()).toEqual([quoted(intentKey), quoted(intentKey)]);
  });

  test('which request has the key itself is remembered on the intent, and holds after a reload', async () => {
    const { submit, keys } = open([draft], answer());
    const first = await submit((fetch) => fetch(`${origin}/orders`, post('1')));
    const { primary } = first.live.intent ?? {};
    expect(primary).toBe(`POST ${origin}/orders 1`);
    await submit(
      async (fetch) => {
        await fetch(`${origin}/pay`, post('2'));
        await fetch(`${origin}/orders`, post('1'));
      },
      { primary },
    );
    expect(keys()).toEqual([quoted(intentKey), derived(`POST ${origin}/pay 1`), quoted(intentKey)]);
  });

  test('after a reload it is known which one a gap was left by: none has the key of another', async () => {
    const { submit, sent } = open([draft], answer());
    const target = `POST ${origin}/items`;
    const digest = async (body: unknown) => body as string;
    const past = [
      { id: `${target} 2`, target, isNamed: false, key: 'two', digest: 'b', sentAt: 1 },
    ];
    await submit(
      async (fetch) => {
        await fetch(`${origin}/items`, post('b'));
        await fetch(`${origin}/items`, post('a'));
      },
      { past, digest, primary: `${target} 1` },
    );
    const third = derived(`${target} 3`);
    expect(await sent()).toEqual([
      ['POST /items', quoted('two'), 'b'],
      ['POST /items', third, 'a'],
    ]);
  });

  test('a header of its own stays as it is, and takes no key from the intent', async () => {
    const { submit, keys } = open([draft], answer());
    await submit(async (fetch) => {
      await fetch(`${origin}/a`, { ...post(), headers: { 'idempotency-key': 'mine' } });
      await fetch(`${origin}/b`, post());
    });
    expect(keys()).toEqual(['mine', quoted(intentKey)]);
  });

  test.each([
    ['key', (attempt: number) => ['/orders', `"k${attempt}"`] as const],
    ['query', (attempt: number) => [`/orders?t=${attempt}`, undefined] as const],
  ])(
    'another %s on the next attempt is refused, and what was sent stays unknown',
    async (_, of) => {
      const { submit, server } = open([draft], refuse, answer());
      const { error, live } = await submit((fetch, attempt) => {
        const [path, key] = of(attempt);
        return fetch(origin + path, {
          ...post('1'),
          headers: key ? { 'idempotency-key': key } : {},
        });
      });
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toHaveProperty(
        'message',
        expect.stringContaining(
          `must be what it was on the attempt before, which sent POST ${origin}/orders with another key or another query: made before the mutation, or a name for each request`,
        ),
      );
      expect(server.requests).toHaveLength(1);
      expect(live.unsure?.size).toBe(1);
    },
  );

  test('what was done and is skipped never lends its key to what comes next', async () => {
    const { submit, sent } = open([draft], answer(), refuse, answer());
    const { error } = await submit(async (fetch, attempt) => {
      if (attempt === 1) await fetch(`${origin}/items`, post('a'));
      await fetch(`${origin}/stock`);
      await fetch(`${origin}/items`, post('b'));
    });
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toHaveProperty('message', expect.stringContaining('a name for each of'));
    expect(await sent()).toEqual([
      ['POST /items', quoted(intentKey), 'a'],
      ['GET /stock', null, ''],
      ['GET /stock', null, ''],
    ]);
  });

  test.each([intentKey, quoted(intentKey)])(
    'the key of the intent that is given by hand is the first one: %s',
    async (key) => {
      const { submit, keys } = open([draft], answer());
      await submit(async (fetch) => {
        await fetch(`${origin}/orders`, { ...post(), headers: { 'idempotency-key': key } });
        await fetch(`${origin}/mail`, post());
      });
      expect(keys()).toEqual([key, derived(`POST ${origin}/mail 1`)]);
    },
  );

  test('other headers stay, in whatever form they are given', async () => {
    const { submit, server } = open([draft], answer());
    const headers = Object.freeze({ 'x-own': '1', 'content-type': 'application/json' });
    await submit(async (fetch) => {
      await fetch(origin, { ...post('{}'), headers });
      await fetch(new Request(origin, { ...post('{}'), headers }));
    });
    for (const request of server.requests) {
      expect(Object.fromEntries(request.headers)).toMatchObject(headers);
    }
    expect(headers).toEqual({ 'x-own': '1', 'content-type': 'application/json' });
  });

  test('when it has ended it holds no bytes', async () => {
    const { submit } = open([draft], answer());
    const { live } = await submit((fetch) => fetch(origin, post('x')));
    expect(live.steps).toBeUndefined();
  });

  test('an empty name is refused', async () => {
    const { submit } = open([draft], answer());
    const { error } = await submit((fetch) => fetch(origin, { ...post(), idempotencyKey: '' }));
    expect(error).toHaveProperty(
      'message',
      "steady.fetch: idempotencyKey is '', and must be a text that is not empty.",
    );
  });
});

describe('same key, same bytes', () => {
  test('what the first attempt was given is what every attempt sends, and development is told', async () => {
    const { submit, sent } = open([draft], refuse, answer());
    await submit((fetch, attempt) => fetch(`${origin}/a?b`, post(`at ${attempt}`)));
    const first = ['POST /a?b', quoted(intentKey), 'at 1'];
    expect(await sent()).toEqual([first, first]);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^\[steadfetch\] POST http:\/\/localhost:3000\/a: this attempt was given another body than the first/,
      ),
    ]);
  });

  test('no body is a body, too', async () => {
    const { submit, sent } = open([draft], refuse, answer());
    await submit((fetch, attempt) => fetch(origin, attempt === 1 ? post() : post('late')));
    expect((await sent()).map(([, , body]) => body)).toEqual(['', '']);
  });

  test('the same body again warns of nothing', async () => {
    const { submit } = open([draft], refuse, answer());
    await submit((fetch) => fetch(origin, post('same')));
    expect(warnings).toEqual([]);
  });
});

describe('without an intent', () => {
  test('the key of the call is sent as it is, and a retry is safe', async () => {
    const server = fakeServer(refuse, answer());
    const steady = createSteadfetch({ fetch: server.fetch, apis: [draft], policy: { baseMs: 0 } });
    const init = { ...post('x'), idempotencyKey: 'order-17' };
    const run = steady.retry(({ signal }) => steady.fetch(origin, { ...init, signal }));
    await vi.runAllTimersAsync();
    await run;
    expect(server.requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual([
      '"order-17"',
      '"order-17"',
    ]);
  });

  test('a POST without one has none', async () => {
    const { fetch, keys } = open([draft], answer());
    await fetch(origin, post());
    expect(keys()).toEqual([null]);
    expect(warnings).toEqual([]);
  });

  test('one key may go to two URLs: many APIs keep them apart', async () => {
    const { fetch, keys } = open([draft], answer());
    await fetch(`${origin}/a`, { ...post('1'), idempotencyKey: 'k' });
    await fetch(`${origin}/b`, { ...post('2'), idempotencyKey: 'k' });
    expect(keys()).toEqual(['"k"', '"k"']);
  });

  test.each([
    ['too long', { maxLength: 3 }, 'k-17', 'at most 3'],
    ['not ASCII', {}, 'kø', 'ASCII'],
  ])(
    'a key that is %s is refused before anything is sent',
    async (_, form, idempotencyKey, message) => {
      const { fetch, server } = open(
        [{ match: origin, idempotency: { ...idempotencyProfiles.draft, ...form } }],
        answer(),
      );
      const error = await rejectionOf(fetch(origin, { ...post(), idempotencyKey }));
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toHaveProperty('message', expect.stringContaining(message));
      expect(server.requests).toEqual([]);
    },
  );
});

describe('where no support is declared', () => {
  test('no header is sent, nothing is retried, and development is told once per origin', async () => {
    const { submit, keys } = open([], refuse);
    const { error } = await submit((fetch) => fetch(`${origin}/a?secret`, post()));
    await submit((fetch) => fetch(`${origin}/b`, post()));
    await submit((fetch) => fetch('https://api.example/', { ...post(), idempotencyKey: 'x' }));
    expect(error).toMatchObject({ decision: { kind: 'stop', reason: 'not-idempotent' } });
    expect(keys()).toEqual([null, null, null]);
    const text = (url: string, from: string) =>
      `[steadfetch] POST ${url} was to have an idempotency key, and no profile says how ${from} takes one. So none is sent, and the request is not retried. Declare it: createSteadfetch({ apis: [{ match: '${from}', idempotency: idempotencyProfiles.draft }] }).`;
    expect(warnings.filter((line) => line.includes('idempotency'))).toEqual([
      text(`${origin}/a`, origin),
      text('https://api.example/', 'https://api.example'),
    ]);
  });

  test('the intent knows that it went without a key, unless its key was written by hand', async () => {
    const { submit } = open([], answer());
    const key = intentKey;
    const inits = [
      post('{}'),
      { ...post(), headers: { 'x-key': key } },
      post(`{"key":"${key}"}`),
      { method: 'PUT' },
    ];
    const unkeyed = inits.map(async (init) => {
      const { live } = await submit((fetch) => fetch(origin, init));
      return live.intent?.isUnkeyed;
    });
    expect(await Promise.all(unkeyed)).toEqual([true, undefined, undefined, undefined]);
  });

  test('a GET in an intent says nothing', async () => {
    const { submit } = open([], answer());
    await submit((fetch) => fetch(origin));
    expect(warnings).toEqual([]);
  });
});
