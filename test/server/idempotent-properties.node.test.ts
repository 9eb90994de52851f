import fc from 'fast-check';
import { idempotent, type IdempotencyStore } from 'steadfetch/server';
import { describe, expect, test } from 'vitest';
import { stores } from './rig.ts';
import { histories } from '../setup/histories.ts';

/** What a run of the handler comes to. */
const outcome = fc.constantFrom('done', 'declined', 'unavailable', 'throws');
const statuses = { done: 201, declined: 402, unavailable: 503 };
const payloads = ['one lamp', 'two lamps'];

/** One submission: a key, a payload that it should not have been used for, and when it goes. */
const submission = fc.record({
  key: fc.constantFrom('a', 'b', 'c'),
  payload: fc.constantFrom(0, 0, 0, 1),
});

/** A store whose every step takes its turn. */
const inTurn = (
  store: IdempotencyStore<unknown>,
  scheduler: fc.Scheduler,
): IdempotencyStore<unknown> => ({
  async claim(claim) {
    await scheduler.schedule(Promise.resolve(), 'claim');
    const result = await store.claim(claim);
    await scheduler.schedule(Promise.resolve(), 'claimed');
    return result;
  },
  run: async (claim, work) => {
    const isHeld = await store.run(claim, work);
    await scheduler.schedule(Promise.resolve(), 'committed');
    return isHeld;
  },
});

const seed = 20_400;

describe.each(stores)('with %s', (_, createStore) => {
  test(`however duplicates interleave and fail, a key is done once, with one payload and one answer (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(submission, { minLength: 1, maxLength: 8 }),
        fc.array(outcome, { maxLength: 6 }),
        async (scheduler, submissions, outcomes) => {
          const { store, ledger } = await createStore();
          const left = [...outcomes];
          let runs = 0;
          const send = idempotent(
            async (request, { key, tx }) => {
              runs += 1;
              const run = runs;
              ledger.write(tx, `${key}: ${request.headers.get('payload')}`);
              await scheduler.schedule(Promise.resolve(), 'handler');
              const result = left.shift() ?? 'done';
              if (result === 'throws') throw new Error('It broke.');
              return new Response(`run ${run}`, { status: statuses[result] });
            },
            {
              store: inTurn(store, scheduler),
              fingerprint: ({ headers }) => headers.get('payload') ?? '',
            },
          );
          /** Sends until there is a final answer, as a client does. */
          const submit = async (key: string, payload: string): Promise<string> => {
            for (let attempt = 0; attempt < 1000; attempt++) {
              await scheduler.schedule(Promise.resolve(), 'send');
              const headers = { 'idempotency-key': `"${key}"`, payload };
              const request = new Request('http://shop.example/', { method: 'POST', headers });
              const response = await send(request).catch(() => undefined);
              if (!response || response.status === 503 || response.status === 409) continue;
              return response.status === 422 ? 'refused' : await response.text();
            }
            return 'never';
          };
          const answers = await scheduler.waitFor(
            Promise.all(
              submissions.map(({ key, payload }) => submit(key, payloads[payload] ?? '')),
            ),
          );

          const keys = new Set(submissions.map(({ key }) => key));
          const orders = await ledger.orders();
          // Exactly one order for every key that was used.
          expect(orders.map((order) => order.slice(0, 1)).toSorted()).toEqual([...keys].toSorted());
          for (const key of keys) {
            const own = submissions.flatMap((sent, index) =>
              sent.key === key ? [{ answer: answers[index], payload: payloads[sent.payload] }] : [],
            );
            const good = own.filter(({ answer }) => answer !== 'refused');
            // Who was not refused was told of the same run, and has the payload that was done.
            expect(new Set(good.map(({ answer }) => answer)).size).toBe(1);
            for (const { payload } of good) expect(orders).toContain(`${key}: ${payload}`);
            expect(good.map(({ answer }) => answer)).not.toContain('never');
          }
        },
      ),
      histories(seed, 300),
    );
  });
});
