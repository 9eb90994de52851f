import { MutationObserver } from '@tanstack/react-query';
import { defineIdempotency, outcomeOf, type SteadyFetch } from 'steadfetch';
import { describe, expect, test } from 'vitest';
import { createRig } from '../rig.tsx';

const post = { method: 'POST' } as const;
const apis = [{ match: '/keyed', idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }];

/** Runs a plain mutation, whose GET /after fails once. @returns its requests, and its error. */
async function run(
  work: (fetch: SteadyFetch) => unknown,
  before: (fetch: SteadyFetch) => unknown = () => {},
) {
  const rig = createRig({ apis });
  rig.server.plan('/after', 503);
  await before(rig.steady.fetch);
  const first = rig.server.sent.length;
  const observer = new MutationObserver(rig.client, {
    mutationFn: async () => work(rig.steady.fetch),
  });
  const result = observer.mutate().then(
    () => undefined,
    (error: unknown) => error,
  );
  await rig.time.advance(60_000);
  const sent = rig.server.sent.slice(first).map(({ request }) => request);
  return { sent, error: await result };
}

describe('a plain mutation whose GET has failed', () => {
  test.each<[string, (fetch: SteadyFetch) => unknown, string[]]>([
    [
      'a POST before it',
      async (fetch) => {
        await fetch('/order', post);
        await fetch('/after');
      },
      ['POST /order', 'GET /after'],
    ],
    [
      'a PATCH before it',
      async (fetch) => {
        await fetch('/order', { method: 'PATCH' });
        await fetch('/after');
      },
      ['PATCH /order', 'GET /after'],
    ],
    [
      'a POST beside it',
      (fetch) => Promise.all([fetch('/order', post), fetch('/after')]),
      ['POST /order', 'GET /after'],
    ],
    [
      'a POST and more before it',
      async (fetch) => {
        await fetch('/order', post);
        await fetch('/ok');
        await fetch('/after');
      },
      ['POST /order', 'GET /ok', 'GET /after'],
    ],
  ])('is not run again, and may have been done, with %s', async (_, work, sent) => {
    const end = await run(work);
    expect(end.sent).toEqual(sent);
    expect(outcomeOf(end.error)).toMatchObject({ status: 503, processed: 'unknown' });
  });

  test.each<[string, (fetch: SteadyFetch) => unknown, string[]]>([
    ['nothing', () => {}, []],
    ['a GET', (fetch) => fetch('/ok'), ['GET /ok']],
    ['a PUT', (fetch) => fetch('/ok', { method: 'PUT' }), ['PUT /ok']],
    ['a DELETE', (fetch) => fetch('/ok', { method: 'DELETE' }), ['DELETE /ok']],
    [
      'a POST that may be repeated',
      (fetch) => fetch('/ok', { ...post, idempotent: true }),
      ['POST /ok'],
    ],
    [
      'a POST with a key',
      (fetch) => fetch('/keyed', { ...post, idempotencyKey: 'k' }),
      ['POST /keyed'],
    ],
  ])('is run again with %s before it', async (_, first, sent) => {
    const again = await run(async (fetch) => {
      await first(fetch);
      await fetch('/after');
    });
    expect(again.sent).toEqual([...sent, 'GET /after', ...sent, 'GET /after']);
    expect(again.error).toBeUndefined();
  });

  test('is run again, however many were sent before it was submitted', async () => {
    const again = await run(
      (fetch) => fetch('/after'),
      (fetch) => fetch('/order', post),
    );
    expect(again.sent).toEqual(['GET /after', 'GET /after']);
  });
});
