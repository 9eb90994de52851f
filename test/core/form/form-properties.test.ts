import { QueryClient } from '@tanstack/react-query';
import fc from 'fast-check';
import { createSteadfetch, mutationOptions, defineIdempotency } from 'steadfetch';
import { virtualTime, type VirtualTime } from 'steadfetch/testing';
import type { SubmitResult } from 'steadfetch/react';
import { expect, test, vi } from 'vitest';
import { mutationControlsOf } from '../../../src/core/react-query/controls.ts';
import { openForm } from '../../../src/core/form/form.ts';
import { mutationIdOf, mutationStatusesOf } from '../../../src/core/react-query/status/mutation.ts';
import { noOrigin } from '../../setup/no-origin.ts';
import { histories } from '../../setup/histories.ts';

const seed = 20_265;
const payloads = ['kite', 'dragon', 'line'] as const;
type Payload = (typeof payloads)[number];
type Result = SubmitResult<number, Error, Payload>;

/** What becomes of a request. What hangs is done when the server comes to it, whoever still waits. */
type Fate = 'done' | 'lost answer' | 'lost request' | 'hang' | 422 | 503;

type Step =
  | { readonly do: 'press'; readonly payload: Payload; readonly fates: readonly Fate[] }
  | { readonly do: 'pass'; readonly ms: number }
  | ({ readonly do: 'reload' } & Habit)
  | { readonly do: 'server' | 'cancel' | 'confirm' | 'decline' | 'reset' | 'resolve' };

/** How the mutationFn of a page sends what it has to send. */
interface Habit {
  readonly isReversed: boolean;
  /** It keeps what is finished, also over a reload, and sends the rest. */
  readonly skipsFinished: boolean;
}

/** What a mutation sends to one URL: one thing, or three, by name, of which two are equal. */
const itemsOf = (payload: string, isMany: boolean): readonly string[] =>
  isMany ? [`${payload} 1`, `${payload} 2`, `${payload} 2`] : [payload];

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('press' as const),
      payload: fc.constantFrom(...payloads),
      fates: fc.array(
        fc.constantFrom<Fate>('done', 'done', 'lost answer', 'lost request', 'hang', 422, 503),
        { minLength: 1, maxLength: 6 },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(0, 50, 600, 1500),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('reload' as const),
      isReversed: fc.boolean(),
      skipsFinished: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('server', 'cancel', 'confirm', 'decline', 'reset', 'resolve'),
    }),
  },
);

/** What the user has meant last, as far as it is not over. */
interface Meant {
  readonly key: string;
  readonly payload: string;
  state: 'under way' | 'unknown' | 'not-done';
  /** It was not done, and something else was pressed: whether or not that was sent, it may be over. */
  isEdited?: boolean;
}

interface Order {
  readonly submission: string;
  readonly body: string;
}

function createWorld(time: VirtualTime, isMany: boolean) {
  /** By idempotency key. */
  const orders = new Map<string, Order>();
  const bodyOf = new Map<string, string>();
  /** What the app knows to be finished, by submission. */
  const finished = new Map<string, Set<number>>();
  const payloadOf = new Map<string, string>();
  const fates: Fate[] = [];
  let hanging: { readonly submission: string; readonly go: () => void }[] = [];
  /** What a page was told to be done: nothing stops it from taking that in. */
  const told = new Set<string>();
  /** What the user was told to be surely not done. */
  const refused = new Set<string>();
  /** What the API has said not to have been done, although it may still have been on its way. */
  const foundNotDone = new Set<string>();
  let meant: Meant | undefined;
  /** Not thrown where they are found: there they would be a lost request. */
  const faults: string[] = [];
  const last = (): Meant | undefined => meant;
  const keysOfStep = new Map<string, ReadonlySet<string>>();
  const keysOf = (submission: string, body: string): ReadonlySet<string> =>
    keysOfStep.get(`${submission} ${body}`) ?? new Set();
  const storageName = 'steadfetch.form.checkout';
  const stored = (): string => sessionStorage.getItem(storageName) ?? '';
  /** The keys that the user has given up, also where the page was left before it sent what came instead. */
  const givenUp = new Set<string>();
  /** What was meant before it, and is meant again where what was sent instead is surely not done. */
  let before: Meant | undefined;
  const goBack = (): void => {
    meant = before;
    before = undefined;
  };
  /** What is meant is surely not done, and the one before it, with the same payload, may be: that is unknown then. */
  const isAsBefore = (): boolean =>
    !!meant &&
    before?.payload === meant.payload &&
    stored().includes(before.key) &&
    bodiesOf(meant.key).length === 0 &&
    !hanging.some(({ submission }) => submission === meant?.key);

  const expectThat = (isSo: boolean, what: string): void => void (isSo || faults.push(what));

  const bodiesOf = (submission: string): string[] =>
    [...orders.values()].filter((order) => order.submission === submission).map(({ body }) => body);

  /** A request of a submission has come: may it have this key? */
  const checkStep = (submission: string, key: string, body: string): void => {
    expectThat((bodyOf.get(key) ?? body) === body, 'one key has two bodies');
    bodyOf.set(key, body);
    const payload = body.replace(/ .*/, '');
    checkSubmission(submission, payload);
    const sent = itemsOf(payload, isMany).filter((item) => item === body).length;
    const keys = new Set([...keysOf(submission, body), key]);
    keysOfStep.set(`${submission} ${body}`, keys);
    // What was found not to have been done binds nobody.
    expectThat(keys.size <= sent || foundNotDone.has(submission), 'one step has two keys');
  };

  /** A submission has this key: may it? */
  const checkSubmission = (key: string, payload: string): void => {
    expectThat((payloadOf.get(key) ?? payload) === payload, 'one key has two payloads');
    expectThat(stored().includes(key), 'a key is sent that is not stored');
    if (meant?.isEdited && meant.key !== key) meant = undefined;
    // What came instead was surely not done.
    givenUp.delete(key);
    const isOpen = meant !== undefined && !givenUp.has(meant.key);
    if (isOpen && meant?.payload === payload) {
      expectThat(meant.key === key, 'one submission has two keys');
    } else {
      expectThat(!payloadOf.has(key), 'two submissions have one key');
      expectThat(!isOpen || meant?.state === 'not-done', 'what may have been done is passed over');
    }
    payloadOf.set(key, payload);
    if (meant && givenUp.has(meant.key) && meant.key !== key)
      before = { ...meant, state: 'unknown' };
    meant = { key, payload, state: 'under way' };
  };

  const serve = async (submission: string, key: string, body: string): Promise<Response> => {
    checkStep(submission, key, body);
    const fate = fates.shift() ?? 'done';
    if (fate === 'hang') await new Promise<void>((go) => hanging.push({ submission, go }));
    if (fate === 'lost request') throw new TypeError('Failed to fetch');
    // A step that was refused may take another key.
    if (fate === 422) keysOfStep.set(`${submission} ${body}`, new Set());
    if (typeof fate === 'number') return new Response(null, { status: fate });
    orders.set(key, { submission, body });
    if (fate === 'lost answer') throw new TypeError('Failed to fetch');
    return Response.json(orders.size);
  };

  /** A page of the tab, until it is left: then nothing in it runs any more. */
  const openPage = ({ isReversed, skipsFinished }: Habit) => {
    let isAlive = true;
    const dead = new Promise<never>(() => {});
    const steady = createSteadfetch({
      ...noOrigin,
      random: () => 0.5,
      clock: {
        ...time.clock,
        setTimeout: (callback, ms) => time.clock.setTimeout(() => isAlive && callback(), ms),
      },
      apis: [
        {
          match: 'http://localhost:3000/',
          idempotency: defineIdempotency({ header: 'Idempotency-Key' }),
        },
      ],
      async fetch(_, init) {
        if (!isAlive) return dead;
        const headers = new Headers(init?.headers);
        const key = headers.get('idempotency-key')?.replaceAll('"', '') ?? '';
        const submission = headers.get('x-submission') ?? '';
        const aborted = new Promise<never>((_go, fail) => {
          init?.signal?.addEventListener('abort', () => fail(init.signal?.reason as Error));
        });
        try {
          const response = await Promise.race([
            serve(submission, key, init?.body as string),
            aborted,
          ]);
          if (isAlive && response.ok) told.add(submission);
          return response;
        } finally {
          // A page that is left learns nothing.
          if (!isAlive) await dead;
        }
      },
    });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const form = openForm<number, Error, Payload, unknown>(client, 'checkout');
    form.setOptions({
      form: 'checkout',
      mutation: mutationOptions(steady, {
        async mutationFn(payload: Payload, { json, idempotencyKey }) {
          const done = finished.get(idempotencyKey) ?? new Set();
          finished.set(idempotencyKey, done);
          const items = [...itemsOf(payload, isMany).entries()];
          for (const [index, body] of isReversed ? items.toReversed() : items) {
            if (skipsFinished && done.has(index)) continue;
            const headers = { 'x-submission': idempotencyKey };
            const step = isMany ? `item ${index}` : undefined;
            await json<number>('/orders', { method: 'POST', headers, body, step });
            done.add(index);
          }
          const all = (bodies: readonly string[]): string => bodies.toSorted().join();
          expectThat(
            all(bodiesOf(idempotencyKey)) === all(itemsOf(payload, isMany)),
            'not each step of what succeeded is done once',
          );
          return 1;
        },
        policy: { maxRetries: 1 },
      }),
      async resolve({ idempotencyKey }) {
        const booked = bodiesOf(idempotencyKey).length;
        if (booked === itemsOf('', isMany).length) return { done: 1 };
        return booked === 0 ? 'not-done' : 'unknown';
      },
    });
    const statuses = mutationStatusesOf(client, 'test');
    const note =
      (payload: Payload) =>
      (result: Result): void => {
        const { status } = result;
        if (!isAlive || meant?.payload !== payload) return;
        const isStuck = status === 'needs-confirmation' && result.reason === 'cannot-find-out';
        const isOther = givenUp.has(meant.key) || foundNotDone.has(meant.key);
        if (status === 'failed' && !isOther) refused.add(meant.key);
        if (status === 'failed' || (status === 'unknown' && isAsBefore())) return goBack();
        if (status === 'succeeded') meant = before = undefined;
        else if (status === 'unknown' || isStuck) meant.state = 'unknown';
      };
    return {
      form,
      press(payload: Payload) {
        if (meant?.state === 'not-done' && meant.payload !== payload) meant.isEdited = true;
        void form.getState().submit(payload).then(note(payload));
      },
      cancel: () => mutationControlsOf(statuses, mutationIdOf(form.getState().target)).cancel(),
      confirm() {
        const { confirmation, unknown } = form.getState();
        if (!confirmation) return;
        if (!form.getState().isPending && unknown) givenUp.add(unknown.idempotencyKey);
        void confirmation.confirm().then(note(confirmation.variables));
      },
      decline: () => form.getState().confirmation?.cancel(),
      reset() {
        // While something is under way it does nothing.
        const isOver = !form.getState().isPending;
        form.getState().reset();
        if (isOver && meant?.state === 'not-done') meant = undefined;
      },
      async resolve() {
        const answer = await form.getState().unknown?.resolve();
        const now = last();
        if (!isAlive || !now || now.state === 'under way') return;
        if (answer === 'done') meant = undefined;
        if (answer !== 'not-done') return;
        foundNotDone.add(now.key);
        if (before) goBack();
        else now.state = answer;
      },
      leave() {
        isAlive = false;
        client.clear();
        // A page that has asked does not tell the next one, unless it has begun to send it again.
        if (meant?.state === 'not-done' && !stored().includes(meant.key)) meant = undefined;
        if (meant && meant.state !== 'unknown') meant.state = 'unknown';
      },
    };
  };

  let page = openPage({ isReversed: false, skipsFinished: false });
  return {
    async take(step: Step): Promise<void> {
      if (step.do === 'press') {
        fates.splice(0, fates.length, ...step.fates);
        page.press(step.payload);
      } else if (step.do === 'pass') await time.advance(step.ms);
      else if (step.do === 'server') {
        for (const { go } of hanging) go();
        hanging = [];
        await time.settle();
      } else if (step.do === 'reload') {
        // A key of which nothing was sent yet is one that the next page takes for sent, and this world does not know.
        const { key } = JSON.parse(stored() || '{}') as { readonly key?: string };
        const isUnsent = key !== undefined && !payloadOf.has(key);
        if (isUnsent || told.has(last()?.key ?? '')) await time.settle();
        const kept = stored();
        page.leave();
        // A page that is left runs no further.
        await time.settle();
        if (kept) sessionStorage.setItem(storageName, kept);
        else sessionStorage.removeItem(storageName);
        page = openPage(step);
      } else await page[step.do]();
    },
    /** What the tab knows now. */
    look() {
      expect(faults).toEqual([]);
      const wrong = [...orders.values()].filter(({ submission }) => refused.has(submission));
      expect(wrong, 'told to be not done, and done').toEqual([]);
      const isUnknown = meant?.state === 'unknown' && !meant.isEdited && !givenUp.has(meant.key);
      const isLost = isUnknown && !stored().includes(meant?.key ?? '');
      expect(isLost, 'the key of an unknown submission is lost').toBe(false);
    },
    leave: () => page.leave(),
    orders,
  };
}

test(`whatever happens, one submission never has two keys, one key never two payloads, and no unknown submission is passed over (seed ${seed})`, async () => {
  const time = virtualTime(vi);
  let presses = 0;
  let booked = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyStep, { minLength: 5, maxLength: 30 }),
      fc.boolean(),
      async (steps, isMany) => {
        sessionStorage.clear();
        const world = createWorld(time, isMany);
        for (const step of steps) {
          await world.take(step);
          if (step.do === 'press') presses++;
          world.look();
        }
        await time.advance(2000);
        world.look();
        world.leave();
        booked += world.orders.size;
      },
    ),
    histories(seed, 600),
  );
  // It was no idle world.
  expect(presses).toBeGreaterThan(500);
  expect(booked).toBeGreaterThan(100);
  sessionStorage.clear();
  time.restore();
});
