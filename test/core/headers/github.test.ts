import { outcomeOf, rateLimitFields } from 'steadfetch';
import { expect, test } from 'vitest';
import { createRig } from '../react-query/rig.tsx';

const config = { rateLimit: rateLimitFields({ dialect: 'github' }) };

/** A query that GitHub answers so once, and then well. */
async function ask(headersAt: (nowMs: number) => Record<string, string>, status = 403) {
  const rig = createRig(config);
  const headers = { date: new Date(rig.time.now()).toUTCString(), ...headersAt(rig.time.now()) };
  rig.server.plan('/repos', { status, headers });
  const asked = rig.client.fetchQuery({
    queryKey: ['repos'],
    queryFn: ({ signal }) => rig.steady.json('/repos', { signal }),
  });
  const [error] = await Promise.all([
    asked.then(
      () => undefined,
      (failed: unknown) => failed,
    ),
    rig.time.advance(200_000),
  ]);
  const decisions = rig.events.flatMap((event) =>
    event.type === 'decision' ? [event.decision] : [],
  );
  return { error, decisions, times: rig.server.times('/repos') };
}

const inSeconds = (nowMs: number, seconds: number): string =>
  String(Math.floor(nowMs / 1000) + seconds);

test('a 403 with none left is waited for until the reset', async () => {
  const { error, decisions, times } = await ask((nowMs) => ({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': inSeconds(nowMs, 30),
  }));
  expect(error).toBeUndefined();
  expect(decisions).toMatchObject([{ kind: 'retry', reason: 'rate-limited', delayMs: 31_500 }]);
  expect(times).toEqual([0, 31_500]);
});

test('a secondary limit, a 403 with Retry-After, is waited for as it says', async () => {
  const { error, decisions } = await ask(() => ({
    'x-ratelimit-remaining': '4999',
    'retry-after': '20',
  }));
  expect(error).toBeUndefined();
  expect(decisions).toMatchObject([{ kind: 'retry', reason: 'rate-limited', delayMs: 21_000 }]);
});

test('a reset in an hour ends the query, and its error says when', async () => {
  const { error, decisions, times } = await ask((nowMs) => ({
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': inSeconds(nowMs, 3600),
  }));
  expect(outcomeOf(error)).toMatchObject({ kind: 'http', status: 429, retryAfterMs: 3_600_000 });
  expect(decisions).toMatchObject([{ kind: 'stop', reason: 'retry-after' }]);
  expect(times).toEqual([0]);
});

test.each([
  ['a 403 for want of a permission', 403, { 'x-ratelimit-remaining': '4999' }],
  ['a 404 that was the last one allowed', 404, { 'x-ratelimit-remaining': '0' }],
])('%s is no refusal for a limit', async (_, status, headers) => {
  const { error, times } = await ask(() => headers, status);
  expect(outcomeOf(error)).toMatchObject({ kind: 'http', status });
  expect(times).toEqual([0]);
});

test('without the dialect a 403 is a 403', async () => {
  const rig = createRig({ rateLimit: rateLimitFields() });
  rig.server.plan('/repos', { status: 403, headers: { 'retry-after': '20' } });
  const asked = rig.steady.fetch('/repos').catch(outcomeOf);
  await rig.time.advance(0);
  expect(await asked).toMatchObject({ kind: 'http', status: 403 });
});

test('a secondary limit whose Retry-After cannot be read has no wait of its own', async () => {
  const rig = createRig(config);
  rig.server.plan('/repos', { status: 403, headers: { 'retry-after': 'soon' } });
  const asked = rig.steady.fetch('/repos').catch(outcomeOf);
  await rig.time.advance(0);
  expect(await asked).toMatchObject({ kind: 'http', status: 429, retryAfterMs: undefined });
});

test('the statuses of another dialect say what they say', async () => {
  const rig = createRig({ rateLimit: rateLimitFields({ dialect: 'shopify' }) });
  rig.server.plan('/repos', { status: 403, headers: { 'retry-after': '20' } });
  const asked = rig.steady.fetch('/repos').catch(outcomeOf);
  await rig.time.advance(0);
  expect(await asked).toMatchObject({ kind: 'http', status: 403 });
});
