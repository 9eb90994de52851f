import {
  type ApiProfile,
  classifyOutcomes,
  createSteadfetch,
  profiles,
  refreshOn401,
  retry,
  type IdempotencyRules,
  isNotSentError,
  defineIdempotency,
  limitConcurrency,
} from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  answer,
  fakeServer,
  type Handler,
  origin,
  refuse,
  streaming,
} from '../fetch/fake-server.ts';
import { fakeTime, observe, rejectionOf, settled } from '../fetch/observe.ts';
import { createSubmitter, submissionKey } from '../fetch/submit.ts';
import type { PastStep, SubmissionFacts } from '../../../src/core/operation/parts/submission.ts';

beforeEach(() => {
  fakeTime();
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => void vi.restoreAllMocks());

const post = { method: 'POST', body: '{"sku":"kite"}' };

function open(rules: IdempotencyRules, ...handlers: readonly [Handler, ...Handler[]]) {
  const api: ApiProfile = {
    match: origin,
    idempotency: defineIdempotency({ ...profiles.draft, ...rules }),
  };
  const server = fakeServer(...handlers);
  return { server, ...createSubmitter(server.fetch, [api]) };
}

const send = (rules: IdempotencyRules, ...handlers: readonly [Handler, ...Handler[]]) =>
  open(rules, ...handlers).submit((fetch) => fetch(origin, post));

describe('still running', () => {
  test('a 409 is waited for, with the same key and the same bytes', async () => {
    const { server, submit } = open({}, answer(409), answer(409), answer(201));
    const { value } = await submit((fetch, attempt) =>
      fetch(origin, { ...post, body: `${attempt}` }),
    );
    expect(value).toMatchObject({ status: 201 });
    const { requests } = server;
    expect(new Set(requests.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
    expect(await Promise.all(requests.map((request) => request.text()))).toEqual(['1', '1', '1']);
  });

  test('its outcome is unknown', async () => {
    const { error } = await send({}, answer(409));
    expect(error).toMatchObject({ outcome: { inProgress: true, processed: 'unknown' } });
  });

  test.each<[string, IdempotencyRules, readonly [Handler, ...Handler[]], number]>([
    ['to the first request with a key', {}, [answer(409)], 1],
    ['that the API says is none', { inProgress: () => false }, [answer(409)], 0],
    ['that the API says is one', { inProgress: () => true }, [answer(409)], 0],
    ['after an answer that was lost', {}, [refuse, answer(409), answer(201)], 0],
    ['that is a stored one', {}, [answer(409, null, { 'idempotent-replayed': 'true' })], 0],
  ])(
    'a 409 %s: the developer is told of a conflict, or is not',
    async (_, rules, handlers, times) => {
      await send(rules, ...handlers);
      expect(vi.mocked(console.warn).mock.calls).toEqual(
        times === 0
          ? []
          : [
              [
                `[steadfetch] POST ${origin} was answered 409, though nothing was sent with its idempotency key before. ` +
                  `It is taken for "the first request is still running", sent again, and unknown in the end. If it is a ` +
                  `conflict of the API's own, such as an e-mail address that is taken, say which 409 is none: idempotency: ` +
                  `defineIdempotency({ ...profiles.draft, inProgress: (response) => response.headers.has('retry-after') }). ` +
                  `See node_modules/steadfetch/docs/idempotency.md#anti-patterns.`,
              ],
            ],
      );
    },
  );

  test('each request that was answered so is told once', async () => {
    const { submit } = open({}, answer(409));
    for (const path of ['/a?x', '/a?y', '/b']) await submit((fetch) => fetch(origin + path, post));
    expect(
      vi.mocked(console.warn).mock.calls.map(([text]) => /POST \S+/.exec(`${text}`)?.[0]),
    ).toEqual([`POST ${origin}/a`, `POST ${origin}/b`]);
  });

  test('a 409 that the app has read in the answer is a conflict of the API, and final', async () => {
    const outcomes = classifyOutcomes({ classifyResponse: () => ({ status: 409 }) });
    const server = fakeServer(answer(200));
    const { submit } = createSubmitter(server.fetch, [
      { match: origin, idempotency: profiles.draft, outcomes },
    ]);
    const { error, attempts } = await submit((fetch) => fetch(origin, post));
    expect(attempts).toBe(1);
    expect(error).toMatchObject({ status: 409, outcome: { inProgress: false, processed: 'no' } });
  });

  test('a 409 that means something else is final', async () => {
    const { error, attempts } = await send({ inProgress: () => false }, answer(409));
    expect(attempts).toBe(1);
    expect(error).toMatchObject({ outcome: { inProgress: false, processed: 'no' } });
  });
});

describe('refused', () => {
  test.each([400, 402, 410, 422])(
    'a %i after an attempt that may have been done shows that none was, where refusals are declared to be stored',
    async (status) => {
      const { error } = await send({ refusalIsStored: true }, refuse, answer(status));
      expect(error).toMatchObject({ status, outcome: { processed: 'no' } });
    },
  );

  test.each([401, 403, 404, 408, 500])(
    'a %i shows nothing there, because what stands before the API gives it, too',
    async (status) => {
      const { error } = await send({ refusalIsStored: true }, refuse, answer(status));
      expect(error).toMatchObject({ status, outcome: { processed: 'unknown' } });
    },
  );

  test('a stored 409 is no request that is still running', async () => {
    const stored = answer(409, null, { 'idempotent-replayed': 'true' });
    const { error, attempts } = await send({}, refuse, stored);
    expect(attempts).toBe(2);
    expect(error).toMatchObject({ outcome: { inProgress: false, processed: 'no' } });
  });

  test.each([400, 401, 422])(
    'a %i to the first attempt is final, and nothing was done',
    async (status) => {
      const { error, attempts } = await send({}, answer(status));
      expect(attempts).toBe(1);
      expect(error).toMatchObject({ status, outcome: { processed: 'no' } });
    },
  );

  test.each([400, 401, 422])(
    'a %i after an attempt that may have been done leaves it unknown',
    async (status) => {
      const { error, attempts } = await send({}, refuse, answer(status));
      expect(attempts).toBe(2);
      expect(error).toMatchObject({ status, outcome: { processed: 'unknown' } });
    },
  );

  test('so it is where an earlier operation may have sent it', async () => {
    const { submit } = open({}, answer(422));
    const { error } = await submit((fetch) => fetch(origin, post), { wasSent: true });
    expect(error).toMatchObject({ outcome: { processed: 'unknown' } });
  });

  test('even one that is not sent this time leaves it unknown', async () => {
    const { submit } = open({}, answer());
    const { operation } = await submit(
      (fetch) => fetch(origin, { ...post, body: new ReadableStream() }),
      { wasSent: true },
    );
    expect(operation.effects.isUnknown()).toBe(true);
  });

  test('an attempt that was surely not done leaves no doubt', async () => {
    const { error } = await send({}, answer(425), answer(422));
    expect(error).toMatchObject({ status: 422, outcome: { processed: 'no' } });
  });

  test.each<[string, number, boolean, 'no' | 'unknown']>([
    ['422', 422, false, 'no'],
    ['stored 422', 422, true, 'no'],
    ['500', 500, false, 'unknown'],
    ['stored 500', 500, true, 'unknown'],
    ['409', 409, false, 'unknown'],
    ['stored 409', 409, true, 'no'],
  ])(
    'a %s of a request without a submission is told as what it is',
    async (_, status, isStored, processed) => {
      const headers = { 'idempotent-replayed': `${isStored}` };
      const { fetch } = open({}, answer(status, null, headers));
      const error = await rejectionOf(fetch(origin, { ...post, idempotencyKey: 'k' }));
      expect(error).toMatchObject({ status, outcome: { processed } });
    },
  );

  test('a 422 of one that was lost before is told as unknown', async () => {
    const server = fakeServer(refuse, answer(422));
    const steady = createSteadfetch({
      fetch: server.fetch,
      apis: [{ match: origin, idempotency: profiles.draft }],
    });
    const init = { ...post, idempotencyKey: 'k' };
    const run = observe(retry(steady, ({ signal }) => steady.fetch(origin, { ...init, signal })));
    await vi.runAllTimersAsync();
    expect(server.requests).toHaveLength(2);
    expect(run.error).toMatchObject({ status: 422, outcome: { processed: 'unknown' } });
  });

  test.each<[string, number, string, boolean]>([
    ['stored 500 does not say whether it was done: it is stuck', 500, 'true', true],
    ['500 may be another one the next time: it is not', 500, 'false', false],
    ['stored 422 says that it was not done: it is not', 422, 'true', false],
  ])('a submission whose key is answered with a %s', async (_, status, isStored, isStuck) => {
    const { submit } = open({}, answer(status, null, { 'idempotent-replayed': isStored }));
    const { operation } = await submit((fetch) => fetch(origin, post));
    expect(operation.submission?.isStuck).toBe(isStuck);
  });

  test('what may have been done stays unknown after a 500', async () => {
    const { submit } = open({}, answer(500));
    const { operation } = await submit((fetch) => fetch(origin, post));
    expect(operation.effects.isUnknown()).toBe(true);
  });
});

describe('what was sent before this operation', () => {
  const first = { id: '', target: `POST ${origin}/`, key: submissionKey, sentAt: 1 };
  const pay = { id: '#pay', target: `POST ${origin}/pay`, key: 'spent', sentAt: 1 };

  test.each<[string, readonly PastStep[], Partial<SubmissionFacts>, boolean]>([
    ['was surely not done once its only step is refused', [first], {}, false],
    [
      'was surely not done where the other step was refused as well',
      [first, { ...pay, isRefused: true }],
      {},
      false,
    ],
    [
      'was surely not done where the other step was not sent',
      [first, { ...pay, sentAt: undefined }],
      {},
      false,
    ],
    ['may have been done by another step', [first, pay], {}, true],
    ['may have been done without a key', [first], { isUnkeyed: true }, true],
    ['may have been done by a step that is not known', [], {}, true],
  ])('%s', async (_, past, facts, wasSent) => {
    const stored = answer(422, null, { 'idempotent-replayed': 'true' });
    const { submit } = open({}, stored);
    const { operation } = await submit((fetch) => fetch(origin, post), {
      wasSent: true,
      past,
      ...facts,
    });
    expect(operation.submission?.wasSent).toBe(wasSent);
  });
});

describe('what the API says of a retry', () => {
  const says = (value: string): Handler => answer(500, null, { 'stripe-should-retry': value });
  const { stripe, adyen } = profiles;

  test('true beats the status', async () => {
    const conflict = answer(400, null, { 'stripe-should-retry': 'true' });
    expect(await send(stripe, conflict, says('true'), says('true'), answer())).toMatchObject({
      attempts: 4,
      error: undefined,
    });
  });

  test('false beats the status', async () => {
    const { attempts, error } = await send(stripe, says('false'));
    expect(attempts).toBe(1);
    expect(error).toMatchObject({
      decision: { kind: 'stop', reason: 'should-retry' },
      outcome: { processed: 'unknown' },
    });
  });

  test('anything else says nothing: the table decides, and a 500 is retried', async () => {
    expect((await send(stripe, says('perhaps'))).attempts).toBe(4);
  });

  test('a stored failure is not asked for again, whatever the API', async () => {
    const stored = answer(500, null, { 'idempotent-replayed': 'true' });
    expect((await send({}, stored)).attempts).toBe(1);
    expect((await send({}, answer(500), stored)).attempts).toBe(2);
    expect((await send({}, answer(500, null, { 'idempotent-replayed': 'false' }))).attempts).toBe(
      4,
    );
  });

  test.each(['idempotent-replayed', 'idempotency-replayed'])(
    '%s is how APIs name it',
    async (name) => {
      expect((await send({}, answer(500, null, { [name]: 'true' }))).attempts).toBe(1);
    },
  );

  test.each([
    ['true', 422, 2],
    ['false', 503, 1],
    ['perhaps', 422, 1],
  ])(
    'X-Should-Retry: %s, of a %i, makes %i attempts with any profile',
    async (value, status, sent) => {
      const said = answer(status, null, { 'x-should-retry': value });
      for (const rules of [{}, stripe, adyen])
        expect((await send(rules, said, answer())).attempts).toBe(sent);
    },
  );

  test('the header of the profile comes before X-Should-Retry', async () => {
    const both = answer(500, null, { 'x-should-retry': 'true', 'stripe-should-retry': 'false' });
    expect((await send(stripe, both)).attempts).toBe(1);
  });

  test('Adyen says it by transient-error', async () => {
    expect(
      (await send(adyen, answer(422, null, { 'transient-error': 'true' }), answer())).attempts,
    ).toBe(2);
    expect((await send(adyen, answer(422, null, { 'transient-error': 'false' }))).attempts).toBe(1);
  });

  test('the shouldRetry of the app comes before it', async () => {
    const { submit } = open(stripe, says('true'));
    const policy = { shouldRetry: () => false };
    expect((await submit((fetch) => fetch(origin, { ...post, policy }))).attempts).toBe(1);
  });
});

describe('already done', () => {
  const body =
    '{"error":{"errors":[{"reason":"idempotent_creation_conflict","links":{"conflicting_resource_id":"PM1"}}]}}';
  const alreadyDone = async (response: Response): Promise<boolean> =>
    response.status === 409 && (await response.text()).includes('idempotent_creation_conflict');
  const rules: IdempotencyRules = { inProgress: () => false, alreadyDone };

  test('resolves with the answer, which is still there to be read', async () => {
    const { value, attempts } = await send(rules, refuse, answer(409, body));
    expect(attempts).toBe(2);
    expect(value).toMatchObject({ status: 409 });
    expect(await (value as Response).text()).toBe(body);
  });

  test('any other answer is the failure that it is, and its body is there, too', async () => {
    const { error } = await send(rules, answer(409, '{}'));
    expect(error).toMatchObject({ code: 'http', status: 409 });
    expect(await (error as { response: Response }).response.text()).toBe('{}');
  });

  test('one that never settles ends with the time limit: the answer is the failure that it is', async () => {
    const never = { inProgress: () => false, alreadyDone: () => new Promise<boolean>(() => {}) };
    const { submit } = open(never, answer(409));
    const result = observe(
      submit((fetch) => fetch(origin, { ...post, timeout: 700, policy: { maxRetries: 0 } })),
    );
    await vi.advanceTimersByTimeAsync(699);
    expect(result.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(result.value).toMatchObject({ error: { code: 'http', status: 409 } });
  });

  test('the copy that it was asked about keeps nothing of an answer that nobody reads', async () => {
    const { handler, wire } = streaming({ status: 409 });
    const { error } = await send({ inProgress: () => false, alreadyDone: () => false }, handler);
    await (error as { response: Response }).response.body?.cancel();
    expect(wire.isCancelled()).toBe(true);
  });

  test('no copy is made where nobody asks', async () => {
    const clone = vi.spyOn(Response.prototype, 'clone');
    await send({}, answer(422));
    expect(clone).not.toHaveBeenCalled();
  });

  test('an answer that went well is not asked about', async () => {
    const ask = vi.fn<() => boolean>(() => true);
    await send({ alreadyDone: ask }, answer(201));
    expect(ask).not.toHaveBeenCalled();
  });
});

const mistakes: [string, () => unknown, string | undefined][] = [
  [
    'throws',
    () => {
      throw new Error('a mistake of the app');
    },
    'threw Error: a mistake of the app',
  ],
  ['is asynchronous', async () => false, 'returned a promise'],
  ['says no word', () => undefined, undefined],
  ['says something else', () => 'no', 'returned string'],
];

/** What development is told of a mistake in an option of a profile. */
const toldOf = (option: string, what: string | undefined): unknown[][] =>
  what === undefined
    ? []
    : [
        [
          `[steadfetch] idempotency: ${option} ${what}; it counts as not set. ` +
            `See node_modules/steadfetch/docs/idempotency.md#answers.`,
        ],
      ];

test.each(mistakes)(
  'where inProgress %s, it counts as not given: the first request may be running',
  async (_, inProgress, what) => {
    const rules = { inProgress } as IdempotencyRules;
    const { error, attempts } = await send(rules, answer(409), answer(409), answer());
    expect({ error, attempts }).toEqual({ error: undefined, attempts: 3 });
    expect(vi.mocked(console.warn).mock.calls).toEqual(toldOf('inProgress', what));
    const { error: last } = await send(rules, answer(409));
    expect(last).toMatchObject({ status: 409, outcome: { processed: 'unknown' } });
  },
);

test.each(mistakes)(
  'where shouldRetry %s, it counts as not given: a 400 is final',
  async (_, shouldRetry, what) => {
    const { error, attempts } = await send({ shouldRetry } as IdempotencyRules, answer(400));
    expect(attempts).toBe(1);
    expect(vi.mocked(console.warn).mock.calls).toEqual(toldOf('shouldRetry', what));
    expect(error).toMatchObject({ status: 400, outcome: { processed: 'no' } });
  },
);

test('where alreadyDone says something else, it counts as not given', async () => {
  const rules = { inProgress: () => false, alreadyDone: () => 'yes' };
  const { error } = await send(rules as unknown as IdempotencyRules, answer(409));
  expect(error).toMatchObject({ code: 'http', status: 409 });
  expect(vi.mocked(console.warn).mock.calls).toEqual(toldOf('alreadyDone', 'returned string'));
});

test.each<[string, IdempotencyRules]>([
  [
    'alreadyDone',
    {
      inProgress: () => false,
      alreadyDone: () => {
        throw new Error('a mistake of the app');
      },
    },
  ],
  [
    'alreadyDone, later',
    { inProgress: () => false, alreadyDone: () => Promise.reject(new Error('a mistake')) },
  ],
  [
    'shouldRetry',
    {
      inProgress: () => false,
      shouldRetry: () => {
        throw new Error('a mistake of the app');
      },
    },
  ],
])('when %s throws, the answer is what is thrown, and final', async (_, rules) => {
  const { error, attempts } = await send(rules, answer(409));
  expect(attempts).toBe(1);
  expect(error).toMatchObject({ code: 'http', status: 409 });
});

describe('a key that is older than the API keeps it', () => {
  const lifetimeMs = 60_000;
  const later =
    (ms: number): Handler =>
    async () => {
      vi.setSystemTime(Date.now() + ms);
      throw new TypeError('Failed to fetch');
    };

  test('is not sent again: it may have been done, and would be done anew', async () => {
    const { server, submit } = open({ lifetimeMs }, later(60_001));
    const { error } = await submit((fetch) => fetch(`${origin}/pay?x`, post));
    expect(server.requests).toHaveLength(1);
    expect(isNotSentError(error)).toBe(true);
    expect(error).toMatchObject({
      outcome: { kind: 'expired', processed: 'unknown' },
      decision: { kind: 'stop', reason: 'expired' },
      cause: { code: 'network' },
      message:
        'The request is too old to be sent again. It may have been done: look first, before you send it anew.',
    });
  });

  test('gives back its place at the gate', async () => {
    const server = fakeServer(later(60_001), answer());
    const idempotency = { ...profiles.draft, lifetimeMs };
    const origins = { concurrency: limitConcurrency({ maxInFlight: 1 }) };
    const steady = createSubmitter(server.fetch, [{ match: origin, idempotency }], {
      ...origins,
    });
    const { error } = await steady.submit((fetch) => fetch(origin, post));
    expect(error).toMatchObject({ outcome: { kind: 'expired' } });
    const next = observe(steady.fetch(origin));
    await settled();
    expect(next.state).toBe('resolved');
  });

  test('is sent as long as it is not', async () => {
    const { server, submit } = open({ lifetimeMs }, later(60_000), answer());
    await submit((fetch) => fetch(origin, post));
    expect(server.requests).toHaveLength(2);
  });

  test('is sent where it surely was not done before: the API has never seen it at work', async () => {
    const told: Handler = () => {
      vi.setSystemTime(Date.now() + 60_001);
      return new Response(null, { status: 425 });
    };
    const { server, submit } = open({ lifetimeMs }, told, answer());
    await submit((fetch) => fetch(origin, post));
    expect(server.requests).toHaveLength(2);
  });

  test('after a reload counts from when the user meant it', async () => {
    const createdAt = Date.now() - 60_001;
    const { server, submit } = open({ lifetimeMs }, answer());
    const old = await submit((fetch) => fetch(origin, post), { createdAt, wasSent: true });
    expect(old.error).toMatchObject({ outcome: { kind: 'expired' } });
    expect(server.requests).toHaveLength(0);
    await submit((fetch) => fetch(origin, post), { createdAt });
    expect(server.requests).toHaveLength(1);
  });

  test('counts from when this page made it, though the clock was set back before', async () => {
    const { server, submit } = open({ lifetimeMs }, refuse, answer());
    vi.setSystemTime(Date.now() - 3_600_000);
    const born = { createdAt: Date.now(), aheadMs: 3_600_000 };
    await submit((fetch) => fetch(origin, post), born);
    expect(server.requests).toHaveLength(2);
  });

  test('of an earlier page has no known age where that has made it after the time that the clock shows', async () => {
    const { server, submit } = open({ lifetimeMs }, answer());
    const createdAt = Date.now() + 60_001;
    const { error } = await submit((fetch) => fetch(origin, post), { createdAt, wasSent: true });
    expect(server.requests).toHaveLength(0);
    expect(error).toMatchObject({
      outcome: { kind: 'age-unknown', processed: 'unknown' },
      decision: { kind: 'stop', reason: 'age-unknown' },
      message:
        'The clock was set back, so it is not known whether the request is too old to be sent again. It may have been done: look first, before you send it anew.',
    });
  });

  test('is no older, and no younger, where the clock is set back between two attempts', async () => {
    const { server, submit } = open({ lifetimeMs }, later(-3_600_000), later(60_001));
    const { error } = await submit((fetch) => fetch(origin, post), { createdAt: Date.now() });
    expect(server.requests).toHaveLength(2);
    expect(error).toMatchObject({ outcome: { kind: 'expired' } });
  });

  test('counts from the first sending, also where that was answered 401 and sent again', async () => {
    const startedAt = Date.now();
    const server = fakeServer(answer(401), answer());
    const auth = refreshOn401({
      headers: () => ({}),
      refresh: async () => void vi.setSystemTime(Date.now() + 5000),
    });
    const { submit } = createSubmitter(server.fetch, [
      { match: origin, idempotency: profiles.draft, auth },
    ]);
    const { operation } = await submit((fetch) => fetch(origin, post));
    expect(server.requests).toHaveLength(2);
    expect(operation.submission?.past).toMatchObject([{ sentAt: startedAt, isDone: true }]);
  });

  test.each([
    [60_000, 2],
    [60_001, 1],
  ])(
    'without a submission counts from its first attempt: %i ms after it, it was sent %i times',
    async (ms, times) => {
      const server = fakeServer(later(ms), answer());
      const idempotency = defineIdempotency({ ...profiles.draft, lifetimeMs });
      const apis = [{ match: origin, idempotency }];
      const steady = createSteadfetch({ fetch: server.fetch, apis, policy: { baseMs: 0 } });
      const refused: (string | undefined)[] = [];
      steady.subscribe((event) => {
        if (event.type === 'decision' && event.failure.kind === 'expired') refused.push(event.url);
      });
      const init = { ...post, idempotencyKey: 'k' };
      const run = observe(retry(steady, ({ signal }) => steady.fetch(origin, { ...init, signal })));
      await vi.runAllTimersAsync();
      expect(server.requests).toHaveLength(times);
      expect(refused).toEqual(times === 1 ? [origin] : []);
      expect(run).toMatchObject(
        times === 1
          ? { state: 'rejected', error: { outcome: { kind: 'expired', processed: 'unknown' } } }
          : { state: 'resolved' },
      );
    },
  );
});

describe('in the body', () => {
  const square: ApiProfile = { match: origin, idempotency: profiles.square };
  const shopify: ApiProfile = { match: origin, idempotency: profiles.shopify };
  const withBody = async (body: BodyInit | undefined, init: object = {}, api = square) => {
    const server = fakeServer(answer());
    const { submit } = createSubmitter(server.fetch, [api]);
    const { error } = await submit((fetch) =>
      fetch(origin, { method: 'POST', ...(body !== undefined && { body }), ...init }),
    );
    const [request] = server.requests;
    return { error, header: request?.headers.get('idempotency-key'), text: await request?.text() };
  };
  const key = '"idempotency_key":"8e03978e-40d5-43dd-bc93-6894a57f9324"';

  test.each([
    ['{"amount":12345678901234567890.10}', `{${key},"amount":12345678901234567890.10}`],
    [' {\n "a": "{" }', ` {${key},\n "a": "{" }`],
    ['{}', `{${key}}`],
    ['{ }', `{${key} }`],
  ])('%s becomes %s, and every other byte stays', async (body, text) => {
    expect(await withBody(body)).toMatchObject({ text, header: null, error: undefined });
  });

  const inner = '"idempotencyKey":"8e03978e-40d5-43dd-bc93-6894a57f9324"';

  test.each([
    ['{"query":"m","variables":{"n":1.10}}', `{"query":"m","variables":{${inner},"n":1.10}}`],
    ['{"query":"m","variables":{}}', `{"query":"m","variables":{${inner}}}`],
    ['{"query":"m"}', `{"variables":{${inner}},"query":"m"}`],
    [
      '{"a":{"variables":{"b":1}},"c":["variables",{"variables":{}}],"variables" : {"n":"{"}}',
      `{"a":{"variables":{"b":1}},"c":["variables",{"variables":{}}],"variables" : {${inner},"n":"{"}}`,
    ],
    ['{"\\u0076ariables":{}}', `{"\\u0076ariables":{${inner}}}`],
    [
      '{"query":"\\"variables\\":{","variables":{}}',
      `{"query":"\\"variables\\":{","variables":{${inner}}}`,
    ],
    ['{"variables":{"idempotencyKey":"mine"}}', '{"variables":{"idempotencyKey":"mine"}}'],
  ])('%s becomes %s where the key is inside an object', async (body, text) => {
    expect(await withBody(body, {}, shopify)).toMatchObject({ text, error: undefined });
  });

  test.each([
    ['null', '{"variables":null}'],
    ['a list', '{"variables":[]}'],
    ['text', '{"variables":"a"}'],
    ['a key that is no text', '{"variables":{"idempotencyKey":7}}'],
  ])('%s in the place of that object is refused, and not sent', async (_, body) => {
    const { error, text } = await withBody(body, {}, shopify);
    expect(text).toBeUndefined();
    expect(error).toHaveProperty(
      'message',
      'steady.fetch: body must be a JSON object given as text, because this API takes its idempotency key in its field variables.idempotencyKey, and a key that is there must be text.',
    );
  });

  test('a key that is there already stays', async () => {
    const own = '{"idempotency_key":"mine"}';
    expect(await withBody(own)).toMatchObject({ text: own });
  });

  test.each([
    ['{"amount":12345678901234567890.10}', `{${key},"amount":12345678901234567890.10}`],
    ['{"idempotency_key":"mine"}', '{"idempotency_key":"mine"}'],
  ])('%s in a Request becomes %s', async (body, text) => {
    const server = fakeServer(answer());
    const { submit } = createSubmitter(server.fetch, [square]);
    const headers = { 'content-type': 'application/json' };
    await submit((fetch) => fetch(new Request(origin, { method: 'POST', body, headers })));
    const [request] = server.requests;
    expect(request?.headers.get('content-type')).toBe('application/json');
    expect(await request?.text()).toBe(text);
  });

  test('a key of the call is put there', async () => {
    const server = fakeServer(answer());
    const { fetch } = createSubmitter(server.fetch, [square]);
    await fetch(origin, { method: 'POST', body: '{"a":1}', idempotencyKey: 'or"der' });
    expect(await server.requests[0]?.text()).toBe('{"idempotency_key":"or\\"der","a":1}');
  });

  test.each([
    ['no body', undefined],
    ['an array', '[]'],
    ['null', 'null'],
    ['no JSON', '{'],
    ['a field that is no key', '{"idempotency_key":""}'],
    ['a field that is no text', '{"idempotency_key":7}'],
    ['no text', new URLSearchParams({ a: '1' })],
  ])('%s is refused, and not sent', async (_, body) => {
    const { error, text } = await withBody(body);
    expect(text).toBeUndefined();
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toHaveProperty(
      'message',
      'steady.fetch: body must be a JSON object given as text, because this API takes its idempotency key in its field idempotency_key, and a key that is there must be text.',
    );
  });
});
