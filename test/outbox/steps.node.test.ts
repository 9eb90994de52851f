import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { SteadfetchError } from 'steadfetch';
import type { OutboxContext } from 'steadfetch/outbox';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { api, type Arrival, createBrowser, longestStepMs, settle, type TestTab } from './rig.ts';

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

interface Order {
  readonly n: number;
  readonly steps: number;
  readonly scope: string | undefined;
  readonly version: number;
}

/** What a request asks for: a step of an order. */
interface Booking {
  readonly n: number;
  readonly step: number;
}

/** How the server, or the way to it, treats a request. */
const fates = ['done', 'done', 'done-then-cut', 'cut', '503', '503-pause', '422', 'html'] as const;
type Fate = (typeof fates)[number];

const page = '<!doctype html><title>Welcome to the Wi-Fi</title>';

/** A server that books each key once, stores its refusals, and takes no second payload under a key. */
class Shop {
  readonly booked = new Map<string, number>();
  readonly mistakes: string[] = [];
  readonly #keys = new Map<string, { readonly body: string; answer?: 201 | 422 }>();

  answer({ key, body, answer, answerPage, cut }: Arrival, fate: Fate): void {
    // The portal of a café answers for everybody.
    if (fate === 'html') return answerPage(page);
    if (fate === 'cut') return cut();
    if (fate === '503') return answer(503);
    if (fate === '503-pause') return answer(503, {}, { 'retry-after': '120' });
    const known = this.#keys.get(key ?? '') ?? { body };
    if (known.body !== body) this.mistakes.push(`two payloads under one key: ${body}`);
    this.#keys.set(key ?? '', known);
    const isReplay = known.answer !== undefined;
    known.answer ??= fate === '422' ? 422 : 201;
    const { n, step } = JSON.parse(body) as Booking;
    const name = `${n}/${step}`;
    if (!isReplay && known.answer === 201) {
      this.booked.set(name, (this.booked.get(name) ?? 0) + 1);
    }
    if (fate === 'done-then-cut') cut();
    else answer(known.answer, { name }, isReplay ? { 'idempotent-replayed': 'true' } : {});
  }
}

const handlersOf = (version: number, onDead: 'block' | 'pass', random: () => number) => ({
  order: {
    onDead,
    async mutationFn({ n, steps }: Order, { json }: OutboxContext) {
      const send = (step: number): Promise<unknown> =>
        json(`${api}/step-${step}`, {
          json: { n, step, version },
          ...(step > 0 && { step: `step ${step}` }),
        });
      const rest = Array.from({ length: steps - 1 }, (_, index) => index + 1);
      // In another order each time, also at once.
      if (random() < 0.5) rest.reverse();
      if (random() < 0.3) await Promise.all([0, ...rest].map(send));
      else for (const step of [0, ...rest]) await send(step);
      return n;
    },
    scope: ({ scope }: Order) => scope,
    version,
    migrate: (old: unknown) => ({ ...(old as Order), version }),
  },
});

/** An hour of an app whose pages, server and network die all the time; then all is well. */
async function play(seed: number): Promise<readonly string[]> {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)];
  const { openTab, server, clock, rows } = createBrowser({ seed });
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= longestStepMs) {
      clock.advance(Math.min(left, longestStepMs));
      await settle();
    }
  };
  const shop = new Shop();
  const lies: string[] = [];
  const onDead = random() < 0.5 ? 'pass' : 'block';
  /** Those that were passed, or may have been. */
  const passed = new Set<unknown>();
  /** They are in one page alone, and gone with it. */
  const volatile = new Set<number>();
  const orders: Order[] = [];
  let open: Arrival[] = [];
  let isHealthy = false;
  let version = 1;
  server.rule = (arrival) => {
    if (isHealthy) shop.answer(arrival, 'done');
    else open.push(arrival);
  };
  type Tab = TestTab<ReturnType<typeof handlersOf>>;
  let tabs: Tab[] = [];
  const asleep: Tab[] = [];
  const openOne = (of = version): void =>
    void tabs.push(openTab({ handlers: handlersOf(of, onDead, random) }));
  const stepsOf = ({ n, steps }: Order): string[] =>
    Array.from({ length: steps }, (_, step) => `${n}/${step}`);
  const isBooked = (name: string): boolean => shop.booked.has(name);

  const submit = (): void => {
    const tab = pick(tabs);
    if (!tab) return;
    const steps = 1 + Math.floor(random() * 3);
    const order = { n: orders.length, steps, scope: pick(['a', undefined]), version: 0 };
    orders.push(order);
    const watch = async (): Promise<void> => {
      try {
        const { saved, delivered } = tab.outbox.submit('order', order);
        const kept = saved.then(
          ({ isDurable }) => isDurable || volatile.add(order.n),
          () => volatile.add(order.n),
        );
        await kept;
        await delivered;
        if (!stepsOf(order).every(isBooked)) lies.push(`${order.n} was told delivered`);
      } catch (error) {
        const { outcome, message } = error as SteadfetchError;
        if (outcome?.processed === 'no' && stepsOf(order).some(isBooked))
          lies.push(`${order.n} was told not done: ${message}`);
      }
    };
    void watch();
  };
  const answer = (): void => {
    open = open.filter((one) => !one.isAborted());
    const one = pick(open);
    if (!one) return;
    open = open.filter((other) => other !== one);
    shop.answer(one, pick(fates) ?? 'done');
  };
  const crash = (): void => {
    const tab = pick(tabs);
    tabs = tabs.filter((one) => one !== tab);
    tab?.crash();
    if (tabs.length === 0) openOne();
  };
  const redrive = async (): Promise<void> => {
    // Where the database does not work, neither does this.
    await pick(tabs)
      ?.outbox.retryAll()
      .catch(() => {});
  };
  const fill = (): void => pick(tabs)?.fail(pick(['quota', 'none', 'none', 'abort']) ?? 'none');
  const sleep = (): void => {
    const tab = pick(tabs);
    if (!tab || tabs.length < 2) return;
    tabs = tabs.filter((one) => one !== tab);
    asleep.push(tab);
    tab.freeze();
  };
  const wake = (): void => {
    const tab = asleep.shift();
    if (!tab) return;
    tabs.push(tab);
    tab.thaw();
  };
  const acts: readonly (() => unknown)[] = [
    submit,
    submit,
    answer,
    answer,
    answer,
    answer,
    crash,
    redrive,
    fill,
    sleep,
    wake,
  ];

  const notePassed = async (): Promise<void> => {
    if (onDead === 'pass')
      for (const { state, variables } of await rows())
        if (state === 'dead') passed.add((variables as Order).n);
  };

  openOne();
  for (let left = 60; left > 0; left -= 1) {
    if (random() < 0.05) version += 1;
    if (random() < 0.1 && tabs.length < 3) openOne(1 + Math.floor(random() * version));
    await notePassed();
    await pick(acts)?.();
    await settle();
    await notePassed();
    if (random() < 0.3) await pass(pick([100, 1000, 12_000, 70_000]) ?? 0);
  }
  isHealthy = true;
  for (const one of open) shop.answer(one, 'done');
  while (asleep.length > 0) wake();
  for (const tab of tabs) tab.fail('none');
  await pass(20_000);
  for (const tab of tabs) tab.crash();
  tabs = [];
  openOne();
  for (let round = 0; round < 4; round += 1) {
    for (let left = 30; left > 0; left -= 1) await pass(30_000);
    await notePassed();
    await redrive();
  }
  await pass(60_000);
  const entries = (await tabs[0]?.outbox.list()) ?? [];
  const left = entries
    .filter(({ state }) => state !== 'done')
    .map((entry) => `left: ${JSON.stringify(entry)}`);
  tabs[0]?.crash();
  const wrong = orders.flatMap(stepsOf).flatMap((name) => {
    const times = shop.booked.get(name) ?? 0;
    const isGone = times === 0 && volatile.has(Number(name.split('/')[0]));
    return times === 1 || isGone ? [] : [`${name} was done ${times} times`];
  });
  const inScope = [...shop.booked.keys()].filter((name) => {
    const [n] = name.split('/').map(Number);
    // Other tabs know nothing of what is in one page alone.
    return orders[n ?? 0]?.scope === 'a' && !passed.has(n) && !volatile.has(n ?? 0);
  });
  const order = [...new Set(inScope.map((name) => Number(name.split('/')[0])))];
  if (order.some((n, index) => n < (order[index - 1] ?? 0)))
    wrong.push(`in the order ${order.join()}`);
  return [...wrong, ...lies, ...shop.mistakes, ...left];
}

const seeds = Number(process.env['STEPS_SEEDS'] ?? 12);
test.each(Array.from({ length: seeds }, (_, index) => 7000 + index))(
  'entries of one to three requests are done once, whatever dies, and told as what they are (seed %i)',
  async (seed) => {
    expect(await play(seed)).toEqual([]);
  },
);
