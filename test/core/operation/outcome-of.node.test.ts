import { createSteadfetch, outcomeOf, SteadfetchError } from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { answer, fakeServer, type Handler, hang, origin, refuse } from '../fetch/fake-server.ts';
import { fakeTime, observe } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;
const nothingKnown = { kind: 'error', processed: 'unknown' };

/** What one attempt rejects with, also while its JSON is read. */
async function errorOf(handler: Handler, init: RequestInit = {}): Promise<unknown> {
  const { json } = createSteadfetch({ fetch: fakeServer(handler).fetch });
  const result = observe(json(url, { method: 'POST', ...init }));
  await vi.runAllTimersAsync();
  return result.error;
}

describe('the outcome of an error', () => {
  test.each<[string, Handler, object]>([
    ['that was refused', answer(404), { kind: 'http', status: 404, processed: 'no' }],
    ['that was not answered', refuse, { kind: 'network', processed: 'unknown' }],
  ])('of ours, %s, is its own', async (_, handler, outcome) => {
    const error = await errorOf(handler);
    expect(outcomeOf(error)).toMatchObject(outcome);
    expect(outcomeOf(error)).toBe((error as SteadfetchError).outcome);
  });

  test('of ours, that was made by a second copy of the package, is its own', async () => {
    vi.resetModules();
    const copy = await import('steadfetch');
    const { fetch } = copy.createSteadfetch({ fetch: fakeServer(answer(404)).fetch });
    const result = observe(fetch(url));
    await vi.runAllTimersAsync();
    expect(result.error).not.toBeInstanceOf(SteadfetchError);
    expect(outcomeOf(result.error)).toBe((result.error as SteadfetchError).outcome);
  });

  test('of JSON that cannot be parsed is that of its answer', async () => {
    const type = { 'content-type': 'application/json' };
    const error = await errorOf(answer(201, '{"id":', type));
    expect(error).toBeInstanceOf(SyntaxError);
    expect(outcomeOf(error)).toEqual({ kind: 'body', status: 201, processed: 'yes' });
  });

  test('of the reason of an abort is that of the abort', async () => {
    const reason = { why: 'enough' };
    const caller = new AbortController();
    setTimeout(() => caller.abort(reason), 100);
    expect(await errorOf(hang, { signal: caller.signal })).toBe(reason);
    expect(outcomeOf(reason)).toEqual({ kind: 'aborted', processed: 'unknown' });
  });

  test('of axios is what its answer says', () => {
    const response = { status: 429, headers: { 'retry-after': '5' } };
    const error = Object.assign(new Error('429'), { config: { method: 'post' }, response });
    expect(outcomeOf(error)).toMatchObject({
      kind: 'http',
      status: 429,
      retryAfterMs: 5000,
      processed: 'no',
    });
  });

  test.each([
    new Error('no luck'),
    'failed',
    undefined,
    null,
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('do not touch');
        },
        has: () => {
          throw new Error('do not touch');
        },
      },
    ),
  ])('is that nothing is known, of anything else (%#)', (error) => {
    expect(outcomeOf(error)).toEqual(nothingKnown);
  });
});
