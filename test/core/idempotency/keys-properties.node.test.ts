import fc from 'fast-check';
import { type ApiProfile, profiles, type SteadyInit } from 'steadfetch';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createIdempotencyKey } from '../../../src/core/idempotency/key.ts';
import { fakeServer, origin } from '../fetch/fake-server.ts';
import { createSubmitter } from '../fetch/submit.ts';
import { histories } from '../../setup/histories.ts';

const seed = 20260;

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

const draft: ApiProfile = { match: origin, idempotency: profiles.draft };

/** What an attempt does with a step: skips it, gives it up unsent, or sends it, and how that ends. */
const anyFate = fc.constantFrom(
  'skipped',
  'unsent',
  'answered',
  'refused',
  'unavailable',
  'conflict',
);
type Fate = typeof anyFate extends fc.Arbitrary<infer T> ? T : never;

interface Plan {
  readonly path: string;
  readonly method: string;
  readonly fates: readonly Fate[];
}

const anyPlan: fc.Arbitrary<readonly Plan[]> = fc.array(
  fc.record({
    path: fc.constantFrom('/orders', '/orders?a', '/pay'),
    method: fc.constantFrom('POST', 'PATCH'),
    fates: fc.array(anyFate, { minLength: 4, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 6 },
);

/** All that a server has seen: for each request its step, its key and its body. */
async function play(submissions: readonly (readonly Plan[])[]) {
  const seen: { step: string; key: string | null; body: string }[] = [];
  let now: { step: string; fate: Fate } | undefined;
  const server = fakeServer(async (request) => {
    const { step, fate } = now ?? { step: '', fate: 'answered' };
    const key = request.headers.get('idempotency-key');
    seen.push({ step, key, body: await request.text() });
    if (fate === 'refused') throw new TypeError('Failed to fetch');
    return new Response(null, {
      status: { answered: 200, unavailable: 503, conflict: 409, skipped: 0, unsent: 0 }[fate],
    });
  });
  const { submit } = createSubmitter(server.fetch, [draft]);
  for (const [nth, plan] of submissions.entries()) {
    await submit(
      async (fetch, attempt) => {
        for (const [index, { path, method, fates }] of plan.entries()) {
          const fate = fates[attempt - 1] ?? 'answered';
          const step = `${nth}/${index}`;
          if (fate === 'skipped') continue;
          now = { step, fate };
          const init: SteadyInit = {
            method,
            // Built from the clock, as a program should not.
            body: `${step} at ${attempt}`,
            // The first needs no name, whatever came before it in other attempts.
            step: index === 0 ? undefined : `step ${index}`,
            ...(fate === 'unsent' && { signal: AbortSignal.abort() }),
          };
          // The program goes on, whatever comes.
          await fetch(`${origin}${path}`, init).catch(() => {});
        }
        throw new Error('again');
      },
      { key: createIdempotencyKey() },
      4,
    );
  }
  return seen;
}

test(`one step has one key and one payload, and no two share one, nor do two submissions (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyPlan, { minLength: 1, maxLength: 3 }), async (submissions) => {
      const seen = await play(submissions);
      const keyOf = new Map<string, string | null>();
      const stepOf = new Map<string | null, string>();
      const bodyOf = new Map<string | null, string>();
      for (const { step, key, body } of seen) {
        expect(key).not.toBeNull();
        expect(keyOf.get(step) ?? key, `the key of ${step}`).toBe(key);
        expect(stepOf.get(key) ?? step, `the step of ${key}`).toBe(step);
        expect(bodyOf.get(key) ?? body, `the body of ${key}`).toBe(body);
        keyOf.set(step, key);
        stepOf.set(key, step);
        bodyOf.set(key, body);
      }
    }),
    histories(seed, 150),
  );
});
