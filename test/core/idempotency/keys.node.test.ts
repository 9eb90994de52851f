import {
  type ApiProfile,
  createSteadfetch,
  profiles,
  outcomeOf,
  retry,
  defineIdempotency,
} from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deriveKey } from '../../../src/core/idempotency/key.ts';
import { type PastStep, renewRefused } from '../../../src/core/operation/parts/submission.ts';
import { answer, fakeServer, type Handler, origin, refuse } from '../fetch/fake-server.ts';
import { fakeTime, rejectionOf } from '../fetch/observe.ts';
import { createSubmitter, submissionKey } from '../fetch/submit.ts';

let warnings: string[];
beforeEach(() => {
  fakeTime();
  warnings = [];
  vi.spyOn(console, 'warn').mockImplementation((text: string) => void warnings.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const draft: ApiProfile = { match: origin, idempotency: profiles.draft };
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
const derived = (name: string): string => quoted(deriveKey(submissionKey, `0 #${name}`));

describe('within a submission', () => {
  test('a POST has the key on attempt 1, and the same on every other', async () => {
    const { submit, keys } = open([draft], refuse, refuse, answer(201));
    const { attempts } = await submit((fetch) => fetch(`${origin}/orders`, post('{}')));
    expect(attempts).toBe(3);
    expect(keys()).toEqual([quoted(submissionKey), quoted(submissionKey), quoted(submissionKey)]);
  });

  test.each([
    ['GET', null],
    ['PUT', null],
    ['DELETE', null],
    ['PATCH', quoted(submissionKey)],
    ['POST', quoted(submissionKey)],
  ])('a %s has the key %s', async (method, key) => {
    const { submit, keys } = open([draft], answer());
    await submit((fetch) => fetch(origin, { method }));
    expect(keys()).toEqual([key]);
  });

  test('a method that needs none gets one where it is asked for', async () => {
    const { submit, keys } = open([draft], answer());
    await submit((fetch) => fetch(origin, { method: 'DELETE', step: 'remove' }));
    expect(keys()).toEqual([derived('remove')]);
  });

  test('a POST that is declared idempotent needs none: by the call, or by its API', async () => {
    const { submit, keys } = open([{ ...draft, idempotent: true }], answer());
    await submit((fetch) => fetch(origin, post()));
    await submit((fetch) => fetch(origin, { ...post(), idempotent: true }));
    expect(keys()).toEqual([null, null]);
  });

  test('the first request needs no name and has the key itself, the others have keys of their names', async () => {
    const { submit, sent } = open([draft], answer(), answer(), answer(), refuse, answer());
    await submit(async (fetch) => {
      await fetch(`${origin}/orders`, post('1'));
      await fetch(new URL(`${origin}/orders#here`), { ...post('2'), step: 'second' });
      await fetch(`${origin}/pay`, { ...post('3'), method: 'PATCH', step: 'pay' });
      await fetch(`${origin}/mail`, { ...post('4'), step: 'mail' });
    });
    const all = [
      ['POST /orders', quoted(submissionKey), '1'],
      ['POST /orders', derived('second'), '2'],
      ['PATCH /pay', derived('pay'), '3'],
      ['POST /mail', derived('mail'), '4'],
    ];
    expect(await sent()).toEqual([...all, ...all]);
  });

  const missing = (path: string, first: string): string =>
    `steady.fetch: step is missing for POST ${origin}${path}. Only the first request with an idempotency key of a mutation needs no name, and that was POST ${origin}${first}. Give this one a name that is the same on every attempt: json(url, { step: 'pay' }).`;

  test.each([
    ['another URL', '/pay', {}],
    ['the same URL and bytes', '/orders', {}],
    ['a first one with a name', '/orders', { step: 'order' }],
    ['a first one with a key of its own', '/orders', { headers: { 'idempotency-key': 'mine' } }],
  ])('a second one without a name is refused before it is sent: %s', async (_, path, first) => {
    const { submit, sent } = open([draft], answer());
    const { error, attempts, operation } = await submit(async (fetch) => {
      await fetch(`${origin}/orders`, { ...post('1'), ...first });
      await fetch(`${origin}${path}?secret`, post('1'));
    });
    expect(error).toEqual(new TypeError(missing(path, '/orders')));
    expect(attempts).toBe(1);
    expect(await sent()).toHaveLength(1);
    // What was sent is told as what it is.
    expect(operation.errors.decision).toMatchObject({ kind: 'stop', reason: 'not-retryable' });
    expect(outcomeOf(error)).toMatchObject({ kind: 'invalid', processed: 'unknown' });
  });

  const second = quoted(deriveKey(submissionKey, '1 '));
  const first = quoted(submissionKey);

  test.each<[string, Handler, string, string, string]>([
    // Asks for the same request again.
    ['a 401', answer(401), 'the same', '1', first],
    ['a 401', answer(401), 'another', '2', second],
    // Its key stands for the refusal.
    ['a 403', answer(403), 'the same', '1', second],
    ['a 419', answer(419), 'the same', '1', second],
    ['a 422', answer(422), 'another', '2', second],
    // It may have been done.
    ['a 503', answer(503), 'the same', '1', first],
    ['an answer that was lost', refuse, 'the same', '1', first],
  ])(
    'one that failed is sent again in its attempt: after %s, with %s body',
    async (_, fail, _body, body, key) => {
      const { submit, sent } = open([draft], fail, answer(201));
      const { value, attempts } = await submit(async (fetch) => {
        await fetch(`${origin}/orders`, post('1')).catch(() => {});
        return fetch(`${origin}/orders`, post(body));
      });
      expect({ value, attempts }).toMatchObject({ value: { status: 201 }, attempts: 1 });
      expect(await sent()).toEqual([
        ['POST /orders', first, '1'],
        ['POST /orders', key, body],
      ]);
    },
  );

  test('one that may have been done is not sent again with another body', async () => {
    const { submit, server } = open([draft], answer(503), answer(201));
    const { error } = await submit(async (fetch) => {
      await fetch(`${origin}/orders`, post('1')).catch(() => {});
      return fetch(`${origin}/orders`, post('2'));
    });
    expect(outcomeOf(error)).toMatchObject({ kind: 'invalid', processed: 'unknown' });
    expect(server.requests).toHaveLength(1);
  });

  test('one that was sent again in its attempt keeps its key in the next', async () => {
    const { submit, keys } = open([draft], answer(401), refuse, answer(201));
    const { attempts } = await submit(async (fetch) => {
      await fetch(`${origin}/orders`, post('1')).catch((error: unknown) => {
        if ((error as { status?: number }).status !== 401) throw error;
        return fetch(`${origin}/orders`, post('1'));
      });
    });
    expect(attempts).toBe(2);
    expect(keys()).toEqual([first, first, first]);
  });

  test('of two that are made at once without a name, neither is sent', async () => {
    const { submit, server } = open([draft], answer());
    let ends: readonly PromiseSettledResult<Response>[] = [];
    const { error } = await submit(async (fetch) => {
      const both = [fetch(`${origin}/orders`, post('1')), fetch(`${origin}/pay`, post('2'))];
      ends = await Promise.allSettled(both);
      await Promise.all(both);
    });
    const refusal = new TypeError(missing('/pay', '/orders'));
    expect(ends).toEqual([
      { status: 'rejected', reason: refusal },
      { status: 'rejected', reason: refusal },
    ]);
    expect(server.requests).toEqual([]);
    expect(outcomeOf(error)).toMatchObject({ kind: 'invalid', processed: 'no' });
  });

  test('a retry that skips a finished step sends the others with the keys they had', async () => {
    const { submit, sent } = open([draft], answer(), refuse, answer());
    await submit(async (fetch, attempt) => {
      if (attempt === 1) await fetch(`${origin}/orders`, post('1'));
      await fetch(`${origin}/pay`, { ...post('2'), step: 'pay' });
    });
    const pay = ['POST /pay', derived('pay'), '2'];
    expect(await sent()).toEqual([['POST /orders', quoted(submissionKey), '1'], pay, pay]);
  });

  test('named steps are known by their names, and send what they sent first', async () => {
    const { submit, sent } = open([draft], answer(), refuse, answer());
    await submit(async (fetch, attempt) => {
      if (attempt === 1) await fetch(`${origin}/items`, { ...post('a'), step: 'one' });
      await fetch(`${origin}/items`, { ...post(`b${attempt}`), step: 'two' });
    });
    expect(await sent()).toEqual([
      ['POST /items', derived('one'), 'a'],
      ['POST /items', derived('two'), 'b1'],
      ['POST /items', derived('two'), 'b1'],
    ]);
    expect(warnings).toEqual([
      expect.stringContaining(
        'POST http://localhost:3000/items: this attempt was given another body',
      ),
    ]);
  });

  test.each([
    ['two bodies', 'another body', '/pay', 'b'],
    ['two URLs', `another URL, POST ${origin}/pay`, '/b', 'a'],
  ])('one name for %s is refused, and is not sent again', async (_, what, path, body) => {
    const { submit, server } = open([draft], answer());
    const { error, attempts, operation } = await submit(async (fetch) => {
      await fetch(`${origin}/pay`, { ...post('a'), step: 'pay' });
      await fetch(origin + path, { ...post(body), step: 'pay' });
    });
    expect(error).toHaveProperty(
      'message',
      `steady.fetch: step is 'pay', and must be the name of one request, and this attempt has sent it with ${what} (POST ${origin}${path}).`,
    );
    expect(operation.errors.decision).toMatchObject({ kind: 'stop', reason: 'not-retryable' });
    expect([attempts, server.requests.length]).toEqual([1, 1]);
  });

  test('a named step may be sent twice in one attempt: it is the same step', async () => {
    const { submit, keys } = open([draft], refuse, answer());
    await submit(async (fetch) => {
      const pay = () => fetch(origin, { ...post('a'), step: 'pay' });
      await pay().catch(pay);
    });
    expect(keys()).toEqual([derived('pay'), derived('pay')]);
  });

  const digest = async (body: unknown) => `digest of ${body as string}`;
  const orders = { id: '', target: `POST ${origin}/orders`, key: submissionKey, sentAt: 1 };

  test('after a reload each has the key of its name, in whatever order', async () => {
    const { submit, sent } = open([draft], answer());
    await submit(
      async (fetch) => {
        await fetch(`${origin}/pay`, { ...post('2'), step: 'pay' });
        await fetch(`${origin}/orders`, { ...post('1'), step: 'order' });
      },
      { wasSent: true },
    );
    expect(await sent()).toEqual([
      ['POST /pay', derived('pay'), '2'],
      ['POST /orders', derived('order'), '1'],
    ]);
  });

  test('after a reload the bytes that were sent are sent, where they were kept', async () => {
    const { submit, sent } = open([draft], answer());
    const past = [{ ...orders, body: 'of before' }];
    await submit((fetch) => fetch(`${origin}/orders`, post('of now')), { wasSent: true, past });
    expect(await sent()).toEqual([['POST /orders', quoted(submissionKey), 'of before']]);
  });

  test.each([
    ['the same bytes are sent where only their digest was kept', 'a', ['a']],
    ['other bytes are refused where only their digest was kept', 'b', []],
  ])('after a reload %s', async (_, body, bodies) => {
    const { submit, sent } = open([draft], answer());
    const past = [{ ...orders, digest: 'digest of a' }];
    const { error, operation } = await submit((fetch) => fetch(`${origin}/orders`, post(body)), {
      wasSent: true,
      past,
      digest,
    });
    expect((await sent()).map(([, , text]) => text)).toEqual(bodies);
    const isRefused = bodies.length === 0;
    expect(operation.submission?.isChanged).toBe(isRefused);
    expect((error as Error | undefined)?.message).toBe(
      isRefused
        ? `steady.fetch: step is undefined, and must be the name of the same request on every attempt, and it was sent before with another body, whose bytes are not kept: a new one needs a name of its own (POST ${origin}/orders).`
        : undefined,
    );
  });

  test.each([
    ['goes elsewhere', '/baskets', 'a', deriveKey(submissionKey, '1 ')],
    ['has other bytes', '/orders', 'b', deriveKey(submissionKey, '1 ')],
    ['is the same', '/orders', 'a', submissionKey],
  ])('what was surely not done and %s after a reload is sent as it then is', async (...row) => {
    const [, path, body, key] = row;
    const { submit, sent } = open([draft], answer());
    const past = [{ ...orders, digest: 'digest of a' }];
    await submit((fetch) => fetch(origin + path, post(body)), { past, digest });
    // One key never has two payloads.
    expect(await sent()).toEqual([[`POST ${path}`, quoted(key), body]]);
  });

  test('what was definitely refused has a fresh key each time that the user sends it again', async () => {
    const { submit, keys } = open([draft], answer());
    const pay = { id: '#pay', target: `POST ${origin}/pay`, key: 'spent', sentAt: 1 };
    let past: readonly PastStep[] = [orders, { ...pay, isRefused: true }];
    const play = () =>
      submit(
        async (fetch) => {
          await fetch(`${origin}/orders`, post('1'));
          await fetch(`${origin}/pay`, { ...post('2'), step: 'pay' });
        },
        { wasSent: true, past },
      );
    // Never within one execution.
    await play();
    past = renewRefused(past);
    await play();
    past = renewRefused(past.map((step) => ({ ...step, isRefused: step.id === '#pay' })));
    await play();
    expect(keys()).toEqual([
      quoted(submissionKey),
      quoted('spent'),
      quoted(submissionKey),
      quoted(deriveKey(submissionKey, '1 #pay')),
      quoted(submissionKey),
      quoted(deriveKey(submissionKey, '2 #pay')),
    ]);
  });

  test('a request that is to go elsewhere after it was sent is refused, and stays unknown', async () => {
    const { submit, server } = open([draft], refuse, answer());
    const { error, operation } = await submit((fetch, attempt) =>
      fetch(`${origin}/orders?t=${attempt}`, post('1')),
    );
    expect(error).toHaveProperty(
      'message',
      `steady.fetch: step is undefined, and must be the name of the same request on every attempt, and it was sent before with another URL, POST ${origin}/orders: a new one needs a name of its own (POST ${origin}/orders).`,
    );
    expect(server.requests).toHaveLength(1);
    expect(operation.effects.isUnknown()).toBe(true);
    expect(operation.submission?.isChanged).toBe(false);
  });

  test('in production such a refusal says no more than which option is wrong', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { submit } = open([draft], refuse, answer());
    const { error } = await submit((fetch, attempt) =>
      fetch(`${origin}/orders?t=${attempt}`, post('1')),
    );
    expect(error).toEqual(new TypeError('steady.fetch: wrong step.'));
  });

  test('another key of its own on the next attempt is refused, and what was sent stays unknown', async () => {
    const { submit, server } = open([draft], refuse, answer());
    const { error, operation } = await submit((fetch, attempt) =>
      fetch(`${origin}/orders`, { ...post('1'), headers: { 'idempotency-key': `k${attempt}` } }),
    );
    expect(error).toHaveProperty(
      'message',
      `steady.fetch: idempotencyKey is 'k2', and must be what it was on the attempt before, which has sent POST ${origin}/orders with another key: make it before the mutation.`,
    );
    expect(server.requests).toHaveLength(1);
    expect(operation.effects.isUnknown()).toBe(true);
  });

  test('another key of its own after an answer whose body is broken is refused, too', async () => {
    const server = fakeServer(answer(201, '{', { 'content-type': 'application/json' }), answer());
    const steady = createSteadfetch({ fetch: server.fetch, apis: [draft] });
    const ended = rejectionOf(
      retry(steady, ({ attempt, signal }) =>
        steady.json(`${origin}/orders`, { ...post('1'), signal, idempotencyKey: `k${attempt}` }),
      ),
    );
    await vi.runAllTimersAsync();
    expect(outcomeOf(await ended)).toEqual({ kind: 'invalid', processed: 'unknown' });
    expect(server.requests).toHaveLength(1);
  });

  test('another key of its own for what comes after a request that was answered well goes', async () => {
    const server = fakeServer(answer(201, '1'), refuse, answer());
    const steady = createSteadfetch({ fetch: server.fetch, apis: [draft] });
    const done = new Set<string>();
    const ended = retry(steady, async ({ signal }) => {
      for (const idempotencyKey of ['a', 'b', 'c']) {
        if (done.has(idempotencyKey)) continue;
        await steady.fetch(`${origin}/orders`, { ...post('1'), signal, idempotencyKey });
        done.add(idempotencyKey);
      }
    });
    await vi.runAllTimersAsync();
    await ended;
    expect(server.requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual(
      ['a', 'b', 'b', 'c'].map((key) => quoted(key)),
    );
  });

  test('a header of its own stays as it is, and takes no key from the submission', async () => {
    const { submit, keys } = open([draft], answer());
    await submit(async (fetch) => {
      await fetch(`${origin}/a`, { ...post(), headers: { 'idempotency-key': 'mine' } });
      await fetch(`${origin}/b`, { ...post(), step: 'b' });
    });
    expect(keys()).toEqual(['mine', derived('b')]);
  });

  test.each([submissionKey, quoted(submissionKey)])(
    'the key of the submission that is given by hand is the first one: %s',
    async (key) => {
      const { submit, keys } = open([draft], answer());
      await submit(async (fetch) => {
        await fetch(`${origin}/orders`, { ...post(), headers: { 'idempotency-key': key } });
        await fetch(`${origin}/mail`, { ...post(), step: 'mail' });
      });
      expect(keys()).toEqual([key, derived('mail')]);
    },
  );

  test('other headers stay, in whatever form they are given', async () => {
    const { submit, server } = open([draft], answer());
    const headers = Object.freeze({ 'x-own': '1', 'content-type': 'application/json' });
    await submit(async (fetch) => {
      await fetch(origin, { ...post('{}'), headers });
      await fetch(new Request(origin, { ...post('{}'), headers }), { step: 'second' });
    });
    for (const request of server.requests) {
      expect(Object.fromEntries(request.headers)).toMatchObject(headers);
    }
    expect(headers).toEqual({ 'x-own': '1', 'content-type': 'application/json' });
  });

  test('when it has ended it holds no bytes', async () => {
    const { submit } = open([draft], answer());
    const { operation } = await submit((fetch) => fetch(origin, post('x')));
    expect(operation.steps).toBeUndefined();
  });

  test.each([
    ['an empty name', { step: '' }, "step is '', and must be a text that is not empty"],
    [
      'a key',
      { idempotencyKey: 'k' },
      "idempotencyKey is 'k', and must be left out within a mutation, which has a key: give its requests names, json(url, { step: 'pay' })",
    ],
  ])('%s is refused, and nothing is sent', async (_, init, message) => {
    const { submit, server } = open([draft], answer());
    const { error } = await submit((fetch) => fetch(origin, { ...post(), ...init }));
    expect(error).toEqual(new TypeError(`steady.fetch: ${message}.`));
    expect(server.requests).toEqual([]);
  });
});

describe('same key, same bytes', () => {
  test('what the first attempt was given is what every attempt sends, and development is told', async () => {
    const { submit, sent } = open([draft], refuse, answer());
    await submit((fetch, attempt) => fetch(`${origin}/a?b`, post(`at ${attempt}`)));
    const first = ['POST /a?b', quoted(submissionKey), 'at 1'];
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

describe('without a submission', () => {
  test('the key of the call is sent as it is, and a retry is safe', async () => {
    const server = fakeServer(refuse, answer());
    const steady = createSteadfetch({ fetch: server.fetch, apis: [draft], policy: { baseMs: 0 } });
    const init = { ...post('x'), idempotencyKey: 'order-17' };
    const run = retry(steady, ({ signal }) => steady.fetch(origin, { ...init, signal }));
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

  test('a name is refused, because there is no key to derive from', async () => {
    const { fetch, server } = open([draft], answer());
    const error = await rejectionOf(fetch(origin, { ...post(), step: 'pay' }));
    expect(error).toEqual(
      new TypeError(
        "steady.fetch: step is 'pay', and must be left out outside a mutation of Steadfetch: use the fetch or json that its mutationFn is given, or give an idempotencyKey.",
      ),
    );
    expect(server.requests).toEqual([]);
  });

  test.each([
    ['too long', { maxLength: 3 }, 'k-17', 'at most 3'],
    ['not ASCII', {}, 'kø', 'ASCII'],
  ])(
    'a key that is %s is refused before anything is sent',
    async (_, form, idempotencyKey, message) => {
      const { fetch, server } = open(
        [{ match: origin, idempotency: defineIdempotency({ ...profiles.draft, ...form }) }],
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
    await submit((fetch) => fetch('https://api.example/', { ...post(), step: 'x' }));
    expect(error).toMatchObject({ decision: { kind: 'stop', reason: 'not-idempotent' } });
    expect(keys()).toEqual([null, null, null]);
    const text = (url: string, from: string) =>
      `[steadfetch] POST ${url} was to have an idempotency key, and no profile says how ${from} takes one. So none is sent, and the request is not retried. Declare it: createSteadfetch({ apis: [{ match: '${from}', idempotency: profiles.draft }] }); or idempotency: 'none', if it takes no keys. See node_modules/steadfetch/docs/idempotency.md.`;
    expect(warnings.filter((line) => line.includes('idempotency'))).toEqual([
      text(`${origin}/a`, origin),
      text('https://api.example/', 'https://api.example'),
    ]);
  });

  test('the submission knows that it went without a key, unless its key was written by hand', async () => {
    const { submit } = open([], answer());
    const key = submissionKey;
    const inits = [
      post('{}'),
      { ...post(), headers: { 'x-key': key } },
      post(`{"key":"${key}"}`),
      { method: 'PUT' },
    ];
    const unkeyed = inits.map(async (init) => {
      const { operation } = await submit((fetch) => fetch(origin, init));
      return operation.submission?.isUnkeyed;
    });
    expect(await Promise.all(unkeyed)).toEqual([true, false, false, false]);
  });

  test('a GET in a submission says nothing', async () => {
    const { submit } = open([], answer());
    await submit((fetch) => fetch(origin));
    expect(warnings).toEqual([]);
  });
});
