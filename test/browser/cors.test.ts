import { createSteadfetch, NetworkError, type SteadfetchEvent, retry } from 'steadfetch';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { fakeTime, rejectionOf } from '../core/fetch/observe.ts';
import { noOrigin } from '../setup/no-origin.ts';
import type { AnswerName } from './answers.ts';
import { openTalk } from './talk.ts';

const [origin, second] = inject('origins');
const warn = vi.spyOn(console, 'warn');

beforeEach(() => {
  fakeTime();
  warn.mockReset().mockReturnValue();
});
afterEach(() => void vi.useRealTimers());

const said = (): string[] => warn.mock.calls.map((call) => call.join(' '));

/** A retried GET whose first attempt meets this answer, once it has been decided on. */
async function afterFirst(answer: AnswerName) {
  const talk = openTalk(origin, answer, 'ok');
  const steady = createSteadfetch({ random: () => 0.5, ...noOrigin });
  const decided = new Promise<SteadfetchEvent>((resolve) => {
    steady.subscribe((event) => void (event.type === 'decision' && resolve(event)));
  });
  const value = retry(steady, (context) => steady.json(talk.url, context));
  return { talk, value, event: await decided };
}

test('a 503 without CORS headers is a NetworkError, and the hint is said once per origin', async () => {
  const { fetch } = createSteadfetch({ ...noOrigin });
  for (const its of [origin, origin, second]) {
    const talk = openTalk(its, 'unavailable-without-cors');
    const error = await rejectionOf(fetch(talk.url));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ outcome: { kind: 'network', processed: 'unknown' } });
    expect((await talk.log()).requests).toHaveLength(1);
  }
  expect(said()).toHaveLength(2);
  expect(said()[0]).toContain(origin);
  expect(said()[0]).toContain('Access-Control-Allow-Origin');
  expect(said()[1]).toContain(second);
});

test('a Retry-After that is not exposed is invisible, and the hint is said once per origin', async () => {
  const { fetch } = createSteadfetch({ ...noOrigin });
  for (const its of [origin, origin, second]) {
    const talk = openTalk(its, 'retry-after-hidden');
    expect(await rejectionOf(fetch(talk.url))).toMatchObject({
      status: 503,
      outcome: { kind: 'http', retryAfterMs: undefined },
    });
  }
  expect(said()).toHaveLength(2);
  expect(said()[0]).toContain(origin);
  expect(said()[0]).toContain('Access-Control-Expose-Headers: Retry-After');
  expect(said()[1]).toContain(second);
});

test('what a page cannot see it cannot obey: the wait is that of the backoff', async () => {
  const { talk, event } = await afterFirst('retry-after-hidden');
  expect(event).toMatchObject({ decision: { kind: 'retry', delayMs: 500 } });
  await vi.advanceTimersByTimeAsync(500);
  expect((await talk.arrived(2)).requests).toHaveLength(2);
});

test('an exposed Retry-After is obeyed, a twentieth later by this chance and no millisecond before, and nothing is said', async () => {
  const { talk, value, event } = await afterFirst('retry-after-exposed');
  expect(event).toMatchObject({ decision: { kind: 'retry', delayMs: 2100, backoffMs: 500 } });
  await vi.advanceTimersByTimeAsync(2099);
  expect((await talk.log()).requests).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect((await talk.arrived(2)).requests).toHaveLength(2);
  expect(await value).toEqual({ id: 1 });
  expect(said()).toEqual([]);
});

test('a Retry-After date counts from the Date of the server, whatever the clock of the page', async () => {
  // fakeTime has set this page to 2027.
  const { event } = await afterFirst('retry-after-date');
  expect(event).toMatchObject({
    failure: { retryAfterMs: 3000 },
    decision: { kind: 'retry', delayMs: 3150, retryAt: 1_800_000_000_000 + 3150 },
  });
});
