import { QueryClient } from '@tanstack/react-query';
import fc from 'fast-check';
import { createSteadfetch } from 'steadfetch';
import { virtualTime, type VirtualTime } from 'steadfetch/testing';
import type { SubmitResult } from 'steadfetch/react';
import { expect, test, vi } from 'vitest';
import { controlsOf } from '../../src/query/controls.ts';
import { openForm } from '../../src/query/open-form.ts';
import { statusStoreOf } from '../../src/query/status-store.ts';
import { noOrigin } from '../setup/no-origin.ts';

const seed = 20_265;
const payloads = ['kite', 'dragon', 'line'] as const;
type Payload = (typeof payloads)[number];
type Result = SubmitResult<number, Error, Payload>;

/** What becomes of a request. What hangs is done when the server comes to it, whoever still waits. */
type Fate = 'done' | 'lost answer' | 'lost request' | 'hang' | 422 | 503;

type Step =
  | { readonly do: 'press'; readonly payload: Payload; readonly fate: Fate }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'server' | 'reload' | 'cancel' | 'confirm' | 'decline' | 'reset' | 'resolve' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('press' as const),
      payload: fc.constantFrom(...payloads),
      fate: fc.constantFrom<Fate>('done', 'lost answer', 'lost request', 'hang', 422, 503),
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
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('server', 'reload', 'cancel', 'confirm', 'decline', 'reset', 'resolve'),
    }),
  },
);

/** What the person has meant last, as far as it is not over. */
interface Meant {
  readonly key: string;
  readonly payload: string;
  state: 'under way' | 'unknown' | 'failed';
  /** It had failed, and something else was pressed: whether or not that was sent, it may be over. */
  isEdited?: boolean;
}

function createWorld(time: VirtualTime) {
  const orders = new Map<string, string>();
  const payloadOf = new Map<string, string>();
  const fates: Fate[] = [];
  let hanging: (() => void)[] = [];
  /** What a page was told to be done: nothing stops it from taking that in. */
  const told = new Set<string>();
  let meant: Meant | undefined;
  /** Not thrown where they are found: there they would be a lost request. */
  const faults: string[] = [];
  const last = (): Meant | undefined => meant;
  const stored = (): string => sessionStorage.getItem('steadfetch.form.checkout') ?? '';
  /** The key that the person has given up. */
  let givenUp: string | undefined;

  /** A request has come: may it have this key? */
  const check = (key: string, payload: string): void => {
    const expectThat = (isSo: boolean, what: string): void => void (isSo || faults.push(what));
    expectThat((payloadOf.get(key) ?? payload) === payload, 'one key has two payloads');
    expectThat(stored().includes(key), 'a key is sent that is not stored');
    if (meant?.isEdited && meant.key !== key) meant = undefined;
    const isOpen = meant !== undefined && meant.key !== givenUp;
    if (isOpen && meant?.payload === payload) {
      expectThat(meant.key === key, 'one intent has two keys');
    } else {
      expectThat(!payloadOf.has(key), 'two intents have one key');
      expectThat(!isOpen || meant?.state === 'failed', 'what may have been done is passed over');
    }
    payloadOf.set(key, payload);
    meant = { key, payload, state: 'under way' };
  };

  const serve = async (key: string, payload: string): Promise<Response> => {
    check(key, payload);
    const fate = fates.shift() ?? 'done';
    if (fate === 'hang') await new Promise<void>((go) => hanging.push(go));
    if (fate === 'lost request') throw new TypeError('Failed to fetch');
    if (typeof fate === 'number') return new Response(null, { status: fate });
    orders.set(key, payload);
    if (fate === 'lost answer') throw new TypeError('Failed to fetch');
    return Response.json(orders.size);
  };

  /** A page of the tab, until it is left: then nothing in it runs any more. */
  const openPage = () => {
    let isAlive = true;
    const dead = new Promise<never>(() => {});
    const steady = createSteadfetch({
      origin: noOrigin,
      random: () => 0.5,
      clock: {
        ...time.clock,
        setTimeout: (callback, ms) => time.clock.setTimeout(() => isAlive && callback(), ms),
      },
      apis: [{ match: 'http://localhost:3000/', idempotency: { header: 'Idempotency-Key' } }],
      async fetch(_, init) {
        if (!isAlive) return dead;
        const key = new Headers(init?.headers).get('idempotency-key')?.replaceAll('"', '') ?? '';
        const aborted = new Promise<never>((_go, fail) => {
          init?.signal?.addEventListener('abort', () => fail(init.signal?.reason as Error));
        });
        try {
          const response = await Promise.race([serve(key, init?.body as string), aborted]);
          if (isAlive && response.ok) told.add(key);
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
      mutation: steady.mutationOptions({
        mutationFn: (body: Payload, { json }) => json<number>('/orders', { method: 'POST', body }),
        policy: { maxRetries: 1 },
      }),
      resolve: async ({ idempotencyKey }) =>
        orders.has(idempotencyKey) ? { done: 1 } : 'not-done',
    });
    const statuses = statusStoreOf(client, 'test');
    const note =
      (payload: Payload) =>
      ({ status }: Result): void => {
        if (!isAlive || meant?.payload !== payload) return;
        if (status === 'succeeded') meant = undefined;
        else if (status === 'failed' || status === 'unknown') meant.state = status;
      };
    return {
      form,
      press(payload: Payload) {
        if (meant?.state === 'failed' && meant.payload !== payload) meant.isEdited = true;
        void form.getState().submit(payload).then(note(payload));
      },
      cancel: () => controlsOf(statuses, statuses.idOf(form.getState().target)).cancel(),
      confirm() {
        const { confirmation, unknown } = form.getState();
        if (!confirmation) return;
        if (!form.getState().isPending) givenUp = unknown?.idempotencyKey;
        void confirmation.confirm().then(note(confirmation.variables));
      },
      decline: () => form.getState().confirmation?.cancel(),
      reset() {
        form.getState().reset();
        if (meant?.state === 'failed' && !stored()) meant = undefined;
      },
      async resolve() {
        const answer = await form.getState().unknown?.resolve();
        const now = last();
        if (!isAlive || !now || now.state === 'under way') return;
        if (answer === 'done') meant = undefined;
        if (answer === 'not-done') now.state = 'failed';
      },
      leave() {
        isAlive = false;
        client.clear();
        if (meant?.state === 'under way') meant.state = 'unknown';
      },
    };
  };

  let page = openPage();
  return {
    async take(step: Step): Promise<void> {
      if (step.do === 'press') {
        fates.splice(0, fates.length, step.fate);
        page.press(step.payload);
      } else if (step.do === 'pass') await time.advance(step.ms);
      else if (step.do === 'server') {
        for (const go of hanging) go();
        hanging = [];
        await time.settle();
      } else if (step.do === 'reload') {
        if (told.has(last()?.key ?? '')) await time.settle();
        page.leave();
        page = openPage();
      } else await page[step.do]();
    },
    /** What the tab knows now. */
    look() {
      expect(faults).toEqual([]);
      const isUnknown = meant?.state === 'unknown' && !meant.isEdited && meant.key !== givenUp;
      const isLost = isUnknown && !stored().includes(meant?.key ?? '');
      expect(isLost, 'the key of an unknown intent is lost').toBe(false);
    },
    leave: () => page.leave(),
    orders,
  };
}

test(`whatever happens, one intent never has two keys, one key never two payloads, and no unknown intent is passed over (seed ${seed})`, async () => {
  const time = virtualTime(vi);
  let presses = 0;
  let booked = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 30 }), async (steps) => {
      sessionStorage.clear();
      const world = createWorld(time);
      for (const step of steps) {
        await world.take(step);
        if (step.do === 'press') presses++;
        world.look();
      }
      await time.advance(2000);
      world.look();
      world.leave();
      booked += world.orders.size;
    }),
    { seed, numRuns: 300 },
  );
  // It was no idle world.
  expect(presses).toBeGreaterThan(500);
  expect(booked).toBeGreaterThan(100);
  sessionStorage.clear();
  time.restore();
});
