import { type Mutation, QueryClient } from '@tanstack/react-query';
import fc from 'fast-check';
import {
  createSteadfetch,
  profiles,
  outcomeOf,
  type SteadyFetch,
  mutationOptions,
} from 'steadfetch';
import { virtualTime, type VirtualTime } from 'steadfetch/testing';
import { expect, test, vi } from 'vitest';
import { mutationControlsOf } from '../../../../src/core/react-query/controls.ts';
import {
  mutationIdOf,
  mutationStatusesOf,
} from '../../../../src/core/react-query/status/mutation.ts';
import { noOrigin } from '../../../setup/no-origin.ts';
import { histories } from '../../../setup/histories.ts';

const seed = 77_001;

/** What becomes of a request: whether the server does it, and what the page hears of it. */
interface Fate {
  readonly isDone: boolean;
  readonly heard: 'answer' | 'cut body' | 'no JSON' | 'late body' | 'nothing' | 'reset' | number;
}

interface Part {
  readonly method: 'POST' | 'PUT' | 'DELETE' | 'GET';
  readonly read: 'json' | 'text' | 'nothing';
  /** The app cuts it off by then. */
  readonly cutAfterMs: number | undefined;
  /** Whatever it ends in, the app goes on. */
  readonly isForgiven: boolean;
}

interface Case {
  readonly isOurs: boolean;
  readonly isDeclared: boolean;
  readonly parts: readonly Part[];
  /** So long after the one before it begins another, whether that has ended or not. @default in turn */
  readonly apartMs: number | undefined;
  /** What the app does with the error of a part, or after the last one. */
  readonly ending: 'returns' | 'throws' | 'translates';
  readonly fates: readonly Fate[];
  readonly acts: readonly { readonly afterMs: number; readonly act: 'cancel' | 'retryNow' }[];
}

const done = { isDone: true };
const undone = { isDone: false };
const anyFate = fc.constantFrom<Fate>(
  { ...done, heard: 'answer' },
  { ...done, heard: 'answer' },
  { ...done, heard: 'cut body' },
  { ...done, heard: 'no JSON' },
  { ...done, heard: 'late body' },
  { ...done, heard: 'nothing' },
  { ...done, heard: 'reset' },
  { ...done, heard: 503 },
  { ...undone, heard: 'nothing' },
  { ...undone, heard: 'reset' },
  { ...undone, heard: 503 },
  { ...undone, heard: 422 },
  { ...undone, heard: 403 },
  { ...undone, heard: 429 },
);
const anyCase: fc.Arbitrary<Case> = fc.record({
  isOurs: fc.boolean(),
  isDeclared: fc.boolean(),
  parts: fc.array(
    fc.record({
      method: fc.constantFrom<Part['method']>('POST', 'POST', 'PUT', 'DELETE', 'GET'),
      read: fc.constantFrom<Part['read']>('json', 'text', 'nothing'),
      cutAfterMs: fc.constantFrom(undefined, undefined, undefined, 5, 30),
      isForgiven: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  apartMs: fc.constantFrom(undefined, undefined, 0, 15),
  ending: fc.constantFrom('returns', 'returns', 'throws', 'translates'),
  fates: fc.array(anyFate, { minLength: 1, maxLength: 8 }),
  acts: fc.array(
    fc.record({
      afterMs: fc.constantFrom(0, 1, 20, 600, 3000),
      act: fc.constantFrom('cancel', 'retryNow'),
    }),
    { maxLength: 3 },
  ),
});

/** A server that keeps the truth; after its last fate all is well. */
function openServer(fates: readonly Fate[]) {
  const left = [...fates];
  /** By method and URL. */
  const changes = new Map<string, number>();
  const fetch = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const { isDone, heard } = left.shift() ?? { isDone: true, heard: 'answer' };
    const { signal } = init;
    const aborted = new Promise<never>((_, fail) => {
      signal?.addEventListener('abort', () => fail(signal.reason as Error));
    });
    aborted.catch(() => {});
    await Promise.race([new Promise((come) => setTimeout(come, 10)), aborted]);
    const name = `${init.method} ${String(input)}`;
    if (isDone && init.method !== 'GET') changes.set(name, (changes.get(name) ?? 0) + 1);
    if (heard === 'nothing') return aborted;
    if (heard === 'reset') throw new TypeError('Failed to fetch');
    if (typeof heard === 'number') return new Response('no', { status: heard });
    if (heard === 'answer') return Response.json({ id: 1 }, { status: 201 });
    if (heard === 'no JSON') return new Response('<html>', { status: 201 });
    const body = new ReadableStream({
      start(controller) {
        if (heard === 'cut body') controller.error(new TypeError('cut'));
        else aborted.catch((reason: unknown) => controller.error(reason));
      },
    });
    return new Response(body, { status: 201 });
  };
  return { fetch, changes };
}

async function run(time: VirtualTime, one: Case) {
  // Of a plain mutation, React Query does not tell which requests are its own: one is known.
  const parts = one.isOurs ? one.parts : one.parts.slice(0, 1);
  const server = openServer(one.fates);
  const steady = createSteadfetch({
    ...noOrigin,
    random: () => 0.5,
    fetch: server.fetch,
    apis: one.isDeclared ? [{ match: '/', idempotency: profiles.draft }] : [],
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const mutationFn = async (_: unknown, { fetch }: { readonly fetch: SteadyFetch }) => {
    const send = async ({ method, read, cutAfterMs, isForgiven }: Part, index: number) => {
      const cut = new AbortController();
      if (cutAfterMs !== undefined) setTimeout(() => cut.abort(), cutAfterMs);
      const signal = cutAfterMs === undefined ? undefined : cut.signal;
      try {
        const response = await fetch(`/parts/${index}`, {
          method,
          ...(signal && { signal }),
          ...(method === 'POST' && { step: `part ${index}` }),
        });
        if (read !== 'nothing') await response[read]();
      } catch (error) {
        if (!isForgiven) throw error;
      }
    };
    const wait = (ms: number) => new Promise((come) => setTimeout(come, ms));
    try {
      const { apartMs } = one;
      if (apartMs === undefined)
        for (const [index, part] of parts.entries()) await send(part, index);
      else
        await Promise.all(
          parts.map(async (part, index) => {
            await wait(index * apartMs);
            await send(part, index);
          }),
        );
    } catch (error) {
      if (one.ending !== 'translates') throw error;
      throw new Error('It did not work.', { cause: error });
    }
    if (one.ending === 'throws') throw new Error('This is not what was asked for.');
  };
  const mutationKey = ['it'];
  const options = one.isOurs
    ? mutationOptions(steady, { mutationKey, mutationFn, gcTime: Infinity })
    : { mutationKey, mutationFn: (given: unknown) => mutationFn(given, steady), gcTime: Infinity };
  const mutation = client
    .getMutationCache()
    .build(client, client.defaultMutationOptions(options)) as unknown as Mutation;
  const statuses = mutationStatusesOf(client, 'test');
  const id = mutationIdOf({ mutationKey });
  const unsubscribe = statuses.subscribe(id, () => {});
  mutation.execute(undefined).catch(() => {});
  for (const { afterMs, act } of one.acts) {
    await time.advance(afterMs);
    mutationControlsOf(statuses, id)[act]();
  }
  await time.advance(1_000_000);
  const { status } = statuses.getState(id);
  const { error } = mutation.state;
  unsubscribe();
  client.clear();
  steady.dispose();
  return { status, error, changes: server.changes };
}

test(`a mutation is never told as failed that was done, nor done twice without a key, and its error says what its status says (seed ${seed})`, async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const time = virtualTime(vi);
  const ends = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(anyCase, async (one) => {
      const { status, error, changes } = await run(time, one);
      const said = error === null ? 'yes' : outcomeOf(error).processed;
      const end = `${status}, ${said}`;
      ends.set(end, (ends.get(end) ?? 0) + 1);
      expect(['succeeded, yes', 'failed, no', 'unknown, unknown']).toContain(end);
      expect(status === 'failed' && changes.size > 0, 'told as failed, and done').toBe(false);
      const isKeyed = !one.isOurs || one.isDeclared;
      const twice = [...changes].filter(([name, times]) => name.startsWith('POST') && times > 1);
      expect(isKeyed ? [] : twice, 'done twice, without a key').toEqual([]);
    }),
    histories(seed, 600),
  );
  // It was no idle world.
  expect(ends.size).toBe(3);
  expect(Math.min(...ends.values())).toBeGreaterThan(50);
  time.restore();
});
