import { QueryClient } from '@tanstack/react-query';
import fc from 'fast-check';
import {
  createSteadfetch,
  defineIdempotency,
  type IdempotencyProfile,
  mutationOptions,
  profiles,
} from 'steadfetch';
import type { SubmitResult } from 'steadfetch/react';
import { virtualTime } from 'steadfetch/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openForm } from '../../../src/core/form/form.ts';
import { noOrigin } from '../../setup/no-origin.ts';
import { histories } from '../../setup/histories.ts';
import manifest from '../../../package.json' with { type: 'json' };

const seed = 20_324;
/** How many moves lead into a state. A form's states do not depend on React Query, so two do for its oldest version. */
const depth =
  process.env['EXPECTED_REACT_QUERY'] === manifest.devDependencies['@tanstack/react-query'] ? 3 : 2;
const lifetimeMs = 3_600_000;

/** What becomes of each request of a press. The server may have done it whatever it answers. */
const replies = [
  'done',
  'refused',
  'refused, stored',
  '500',
  '500 and done',
  '500, stored',
  '500 and done, stored',
  'lost request',
  'lost answer',
  'in progress',
  '422',
  'login page',
  'hang',
  'hang and done',
] as const;
type Reply = (typeof replies)[number];

const apis: Readonly<
  Record<string, { readonly profile: IdempotencyProfile; readonly says: boolean }>
> = {
  'an API that says what it has stored': {
    profile: defineIdempotency({ ...profiles.stripe, lifetimeMs }),
    says: true,
  },
  'one that does not say it': {
    profile: defineIdempotency({ ...profiles.draft, lifetimeMs }),
    says: false,
  },
  'one that stores refusals, and takes the key in the body': {
    profile: defineIdempotency({ ...profiles.square, lifetimeMs }),
    says: false,
  },
  'one that takes no key': { profile: undefined as never, says: false },
};

type Result = SubmitResult<unknown, Error, { readonly sku: string }>;

const time = virtualTime(vi);
beforeAll(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterAll(() => {
  sessionStorage.clear();
  time.restore();
  vi.restoreAllMocks();
});

function createWorld({ profile, says }: (typeof apis)[string]) {
  sessionStorage.clear();
  // Those of the world before: each step of the time would look through all of them.
  vi.clearAllTimers();
  /** What is stored, by key, and since when. */
  const stored = new Map<string, { readonly status: number; readonly at: number }>();
  const created: string[] = [];
  /** The keys that were sent; without one, each request that was confirmed is another order. */
  const keys = new Set<string>();
  /** So often an order may be placed once more: an answer yes, and what comes after a success. */
  let allowed = 1;
  let confirmed = 0;
  let reply: Reply = 'done';

  const answerOf = (key: string): Response => {
    const known = stored.get(key);
    const isKnown = known && time.clock.now() - known.at <= lifetimeMs;
    const replay = (status: number): Response =>
      Response.json({}, { status, headers: says ? { 'idempotent-replayed': 'true' } : {} });
    const isDone = reply === 'done' || reply.includes('and done') || reply === 'lost answer';
    if (reply === 'login page')
      return new Response('<p>', { headers: { 'content-type': 'text/html' } });
    if (reply === 'in progress') return new Response(null, { status: 409 });
    // What stands before the API answers without asking what is stored.
    const isBefore =
      reply === '500' || (!profile?.refusalIsStored && /^(refused|422)$/.test(reply));
    // One that stores refusals refuses nothing that it has done.
    const isAnswered = known?.status !== 0 || profile?.refusalIsStored;
    if (isKnown && !isBefore && isAnswered) return replay(known.status || 201);
    if (isDone && !(isKnown && known.status === 0)) {
      created.push(key);
      // What is not done again, and whose answer is not stored.
      stored.set(key, { status: 0, at: time.clock.now() });
    }
    const status =
      reply === '422'
        ? 422
        : reply.startsWith('500')
          ? 500
          : reply.startsWith('refused')
            ? 402
            : 201;
    const isStored = reply.endsWith('stored') || status === 201;
    if (isStored && key) stored.set(key, { status, at: time.clock.now() });
    return Response.json({}, { status });
  };

  const open = () => {
    let isAlive = true;
    const steady = createSteadfetch({
      ...noOrigin,
      random: () => 0.5,
      clock: {
        ...time.clock,
        setTimeout: (callback, ms) => time.clock.setTimeout(() => isAlive && callback(), ms),
      },
      apis: [{ match: 'http://localhost:3000/', ...(profile && { idempotency: profile }) }],
      async fetch(_, init) {
        const { signal, body, headers } = init ?? {};
        const inBody = (JSON.parse(body as string) as { idempotency_key?: string }).idempotency_key;
        const sent = new Headers(headers).get('idempotency-key')?.replaceAll('"', '');
        const key = inBody ?? sent ?? '';
        keys.add(key || `none ${confirmed}`);
        const answer = reply === 'lost request' || reply === 'hang' ? undefined : answerOf(key);
        if (reply.startsWith('hang'))
          return new Promise((_go, fail) => {
            signal?.addEventListener('abort', () => fail(signal.reason as Error));
          });
        if (!answer || reply.startsWith('lost')) throw new TypeError('Failed to fetch');
        return answer;
      },
    });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const form = openForm<unknown, Error, { readonly sku: string }, unknown>(client, 'checkout');
    form.setOptions({
      form: 'checkout',
      mutation: mutationOptions(steady, {
        mutationFn: (order: { readonly sku: string }, { json }) =>
          json('/orders', { method: 'POST', json: order }),
        policy: { maxRetries: 1, timeout: 1000, maxPauseMs: 1000 },
      }),
    });
    return {
      form,
      leave() {
        isAlive = false;
        client.clear();
      },
    };
  };

  let page = open();
  let isConfirmedHere = false;
  const settle = async (promise: Promise<Result>): Promise<Result> => {
    let result: Result | undefined;
    void promise.then((one) => (result = one));
    while (!result) await time.advance(1000);
    return result;
  };
  return {
    created,
    keys,
    reload() {
      page.leave();
      page = open();
      isConfirmedHere = false;
    },
    pass: (ms: number) => time.advance(ms),
    /** Presses Submit, and says yes to what is asked where `isSure`. */
    async press(next: Reply, isSure: boolean): Promise<Result> {
      reply = next;
      await time.advance(200);
      const result = await settle(page.form.getState().submit({ sku: 'kite' }));
      const isAsked = result.status === 'needs-confirmation' && isSure;
      if (isAsked) {
        confirmed++;
        allowed++;
        isConfirmedHere = true;
      }
      const end = isAsked ? await settle(result.confirm()) : result;
      if (end.status === 'succeeded') allowed++;
      expect(created.length, 'done twice without a yes').toBeLessThanOrEqual(allowed);
      return end;
    },
    state: () =>
      JSON.stringify([
        (sessionStorage.getItem('steadfetch.form.checkout') ?? '').replaceAll(
          /"(key|id|fingerprint|digest|sentBy|target)":"[^"]*"|"(createdAt|sentAt|expiresAt)":\d+/g,
          '',
        ),
        page.form.getState().unknown?.isExpired,
        // What only the page knows.
        isConfirmedHere,
        [...stored.values()].map(({ status }) => status),
      ]),
  };
}
type World = ReturnType<typeof createWorld>;

/** A way into a state: presses, a reload, an hour and more, or a press whose question is answered yes. */
const moves = [
  ...replies.map((reply) => [reply] as const),
  ['reload'],
  ['expire'],
  ['refused', 'yes'],
  ['lost answer', 'yes'],
] as const;
type Move = (typeof moves)[number];

async function walk(world: World, way: readonly Move[]): Promise<void> {
  for (const [move, yes] of way) {
    if (move === 'reload') world.reload();
    else if (move === 'expire') await world.pass(lifetimeMs + 1000);
    else {
      const { status } = await world.press(move, yes === 'yes');
      if (status === 'failed' || status === 'succeeded') break;
    }
  }
}

/** The shortest ways into each state that a form can be in. */
async function findStates(api: (typeof apis)[string]): Promise<readonly Move[][]> {
  const seen = new Map<string, Move[]>();
  let edge: Move[][] = [[]];
  for (let length = 0; length < depth; length++) {
    const next: Move[][] = [];
    for (const way of edge)
      for (const move of moves) {
        const world = createWorld(api);
        await walk(world, [...way, move]);
        const state = world.state();
        if (seen.has(state)) continue;
        seen.set(state, [...way, move]);
        next.push([...way, move]);
      }
    edge = next;
  }
  return [...seen.values()];
}

describe.each(Object.entries(apis))('%s', (name, api) => {
  test('has a way out of every state within two presses, and none is done twice without a yes', async () => {
    const ways = await findStates(api);
    expect(ways.length).toBeGreaterThan(name === 'one that takes no key' ? 3 : 5 * depth);
    for (const way of ways)
      for (const reply of replies) {
        const world = createWorld(api);
        await walk(world, way);
        const what = `${way.map((move) => move.join(' ')).join(', ')}; then ${reply} twice`;
        const before = world.keys.size;
        let isOut = false;
        for (const _ of [1, 2]) {
          const createdBefore = world.created.length;
          const result = await world.press(reply, true);
          const isWrong = result.status === 'failed' && world.created.length !== createdBefore;
          expect(isWrong, `${what}: told wrong`).toBe(false);
          isOut ||=
            result.status === 'succeeded' || result.status === 'failed' || world.keys.size > before;
          if (isOut) break;
        }
        expect(isOut, what).toBe(true);
      }
  });

  /** Moves after which a submission is unknown, as a rule. */
  const unknowns = moves.filter(([move]) => !/^(done|refused|422)/.test(move));
  test(`has one also at the end of long ways, whatever each of the two presses is answered (seed ${seed})`, async () => {
    let unknown = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<Move>(...unknowns), { minLength: 4, maxLength: 10 }),
        fc.tuple(fc.constantFrom(...replies), fc.constantFrom(...replies)),
        async (way, presses) => {
          const world = createWorld(api);
          await walk(world, way);
          const before = world.keys.size;
          let isOut = false;
          for (const reply of presses) {
            const createdBefore = world.created.length;
            const result = await world.press(reply, true);
            const isWrong = result.status === 'failed' && world.created.length !== createdBefore;
            expect(isWrong, 'told wrong').toBe(false);
            if (result.status === 'unknown') unknown++;
            isOut ||= result.status === 'succeeded' || result.status === 'failed';
            isOut ||= world.keys.size > before;
            if (isOut) break;
          }
          expect(isOut).toBe(true);
        },
      ),
      histories(seed, 60),
    );
    // It was no idle world.
    expect(unknown).toBeGreaterThan(20);
  });
});
