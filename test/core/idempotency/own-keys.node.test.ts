import {
  type ApiProfile,
  createSteadfetch,
  profiles,
  retry,
  type SteadyFetch,
  type SteadyInit,
} from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { submissionExtension as submissionCode } from '../../../src/core/fetch/keys.ts';
import { bareKey } from '../../../src/core/idempotency/steps.ts';
import { Submission } from '../../../src/core/operation/parts/submission.ts';
import { instanceOfSteady } from '../../../src/core/react-query/instance.ts';
import { noOrigin } from '../../setup/no-origin.ts';
import { answer, fakeServer, type Handler, hang, origin, refuse } from '../fetch/fake-server.ts';
import { fakeTime, observe, rejectionOf } from '../fetch/observe.ts';
import { createSubmitter, submissionKey } from '../fetch/submit.ts';

beforeEach(() => {
  fakeTime();
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const draft: ApiProfile = { match: origin, idempotency: profiles.draft };
const orders = `${origin}/orders`;

const withKey = (key: string, init: SteadyInit = {}): SteadyInit => ({
  method: 'POST',
  body: 'a',
  headers: { 'idempotency-key': key },
  ...init,
});

function open(...handlers: readonly [Handler, ...Handler[]]) {
  const server = fakeServer(...handlers);
  const keys = () => server.requests.map(({ headers }) => headers.get('idempotency-key'));
  return { server, keys, ...createSubmitter(server.fetch, [draft]) };
}

test.each([
  ['"k"', 'k'],
  ['k', 'k'],
  ['"a"b', '"a"b'],
  ['a"b"', 'a"b"'],
  ['"a\n"b"', 'a\n"b'],
])('the key in %j is %j', (written, key) => {
  expect(bareKey(written)).toBe(key);
});

describe('another key of its own in the next attempt', () => {
  const lost = (fetch: SteadyFetch, path: string, init: SteadyInit): Promise<unknown> =>
    fetch(origin + path, init).catch(() => {});

  test.each<[string, (fetch: SteadyFetch) => Promise<unknown>, boolean]>([
    ['where the first was lost', (fetch) => lost(fetch, '/orders?page=1', withKey('k1')), false],
    ['where the first went elsewhere', (fetch) => lost(fetch, '/pay', withKey('k1')), true],
    [
      'where the first was never sent',
      (fetch) => lost(fetch, '/orders', withKey('k1', { signal: AbortSignal.abort() })),
      true,
    ],
    [
      'where the first has a name',
      (fetch) => lost(fetch, '/orders', { method: 'POST', step: 'order' }),
      true,
    ],
  ])('%s: it is sent, or refused', async (_, first, isSent) => {
    const { submit, server } = open((request) =>
      request.headers.get('idempotency-key') === 'k2' ? new Response() : refuse(request),
    );
    const run = async (fetch: SteadyFetch, attempt: number): Promise<void> => {
      if (attempt === 2) await fetch(`${orders}?page=2`, withKey('k2'));
      else await first(fetch);
    };
    const { error } = await submit(run, {}, 2);
    expect(server.requests.at(-1)?.headers.get('idempotency-key')).toBe(isSent ? 'k2' : 'k1');
    expect((error as Error | undefined)?.message).toBe(
      isSent
        ? undefined
        : `steady.fetch: idempotencyKey is 'k2', and must be what it was on the attempt before, which has sent POST ${orders} with another key: make it before the mutation.`,
    );
  });

  test('in production says no more than which option is wrong', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { submit } = open(refuse, answer());
    const { error } = await submit((fetch, attempt) => fetch(orders, withKey(`k${attempt}`)));
    expect(error).toEqual(new TypeError('steady.fetch: wrong idempotencyKey.'));
  });

  test('is another request where both are of one attempt', async () => {
    const { submit, keys } = open(refuse, answer());
    await submit(async (fetch) => {
      await lost(fetch, '/orders', withKey('k1'));
      await fetch(orders, withKey('k2'));
    });
    expect(keys()).toEqual(['k1', 'k2']);
  });
});

test('one key of its own for two bodies is refused by its name', async () => {
  const { submit, keys } = open(refuse, answer());
  const { error } = await submit(async (fetch) => {
    await fetch(orders, withKey('k')).catch(() => {});
    await fetch(orders, withKey('k', { body: 'b' }));
  });
  expect(error).toEqual(
    new TypeError(
      "steady.fetch: idempotencyKey is 'k', and must be the name of one request, and this attempt has sent it with another body.",
    ),
  );
  expect(keys()).toEqual(['k']);
});

test('the key of the submission that is given by hand is that of its first request, in the next attempt, too', async () => {
  const { submit, server } = open(refuse, answer());
  await submit((fetch, attempt) =>
    fetch(orders, attempt === 1 ? withKey(submissionKey) : { method: 'POST', body: 'b' }),
  );
  const sent = server.requests.map(async (one) => [
    one.headers.get('idempotency-key'),
    await one.text(),
  ]);
  expect(await Promise.all(sent)).toEqual([
    [submissionKey, 'a'],
    [`"${submissionKey}"`, 'a'],
  ]);
});

describe('a request of no mutation, with a key', () => {
  const post = { method: 'POST', body: 'a' };

  function openPage(isDeclared: () => boolean = () => true) {
    const server = fakeServer(refuse, answer());
    const apis = [{ match: isDeclared, idempotency: profiles.draft }];
    const steady = createSteadfetch({ ...noOrigin, fetch: server.fetch, apis });
    return { server, steady, ...instanceOfSteady(steady, 'openPage') };
  }

  test('makes that mutation repeatable whose key it carries', async () => {
    const { steady, operations } = openPage();
    const submissions = ['one', 'other'].map((key) => {
      const submission = new Submission({ key, createdAt: 0 });
      const operation = operations.begin('mutation', { submissionCode, submission });
      operations.executions.add({ submission, operation, isIdle: () => false });
      return submission;
    });
    await rejectionOf(steady.fetch(orders, { ...post, idempotencyKey: 'other' }));
    expect(submissions.map(({ isRepeatable }) => isRepeatable)).toEqual([false, true]);
  });

  test('is not sent again without it, where its API is no longer declared', async () => {
    let isDeclared = true;
    const { steady, server } = openPage(() => isDeclared);
    const run = observe(
      retry(steady, ({ signal }) => {
        const sent = steady.fetch(orders, { ...post, idempotencyKey: 'k', signal });
        isDeclared = false;
        return sent;
      }),
    );
    await vi.runAllTimersAsync();
    expect(server.requests).toHaveLength(1);
    expect(run.error).toMatchObject({
      message: `POST ${orders}: not sent without the idempotency key with which it may have been done. Declare its API as before.`,
    });
  });
});

test('a submission that has sent a request with a key is repeatable', async () => {
  const { submit } = open(answer());
  const { operation } = await submit((fetch) => fetch(orders, { method: 'POST' }));
  expect(operation.submission?.isRepeatable).toBe(true);
});

describe('a second request without a name is refused', () => {
  const missing = (path: string): TypeError =>
    new TypeError(
      `steady.fetch: step is missing for POST ${origin}${path}. Only the first request with an idempotency key of a mutation needs no name, and that was POST ${orders}. Give this one a name that is the same on every attempt: json(url, { step: 'pay' }).`,
    );

  test('where the first has failed, and it goes elsewhere', async () => {
    const { submit, server } = open(refuse, answer());
    const { error } = await submit(async (fetch) => {
      await fetch(orders, { method: 'POST' }).catch(() => {});
      await fetch(`${origin}/pay`, { method: 'POST' });
    });
    expect(error).toEqual(missing('/pay'));
    expect(server.requests).toHaveLength(1);
  });

  test('while the first is under way', async () => {
    const { submit, server } = open(hang);
    const { error } = await submit(async (fetch) => {
      void fetch(orders, { method: 'POST' }).catch(() => {});
      await vi.advanceTimersByTimeAsync(0);
      await fetch(orders, { method: 'POST' });
    });
    expect(error).toEqual(missing('/orders'));
    expect(server.requests).toHaveLength(1);
  });

  test('where the first was given up before it was sent', async () => {
    const { submit, server } = open(answer());
    const { error } = await submit(async (fetch) => {
      await fetch(orders, { method: 'POST', signal: AbortSignal.abort() }).catch(() => {});
      await fetch(orders, { method: 'POST' });
    });
    expect(error).toEqual(missing('/orders'));
    expect(server.requests).toEqual([]);
  });
});
