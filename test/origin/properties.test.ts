import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { createGate, type Sign } from '../../src/origin/gate.ts';
import type { Ask, Turn, Waiter } from '../../src/origin/waiting.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { aborted, answered, broken, ok, timedOut } from './open-gate.ts';
import { createVirtualClock } from './virtual-clock.ts';

const seed = 6021;
const runs = 400;

/** One thing that happens to a gate. `who` picks among those that it can happen to. */
type Step =
  | { readonly kind: 'ask'; readonly ask: Omit<Ask, 'onHold'> }
  | { readonly kind: 'settle'; readonly who: number; readonly sign: Sign; readonly told: Told }
  | { readonly kind: 'leave' | 'renew'; readonly who: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'spend' };

/** What an answer says about limits. */
type Told =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'allow'; readonly remaining: number; readonly ms: number };

const anyAsk = fc.record({
  endpoint: fc.constantFrom('a', 'b', 'c'),
  risk: fc.constantFrom(0, 1, 2),
  isNew: fc.boolean(),
  priority: fc.constantFrom('user-blocking', 'user-visible', 'background'),
  isFailFast: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  holdMs: fc.constantFrom(0, 1000, 10_000, 60_000, Infinity),
});
const anyMs = fc.oneof(fc.nat({ max: 500 }), fc.nat({ max: 10_000 }), fc.nat({ max: 100_000 }));
const anyTold: fc.Arbitrary<Told> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'nothing' as const }) },
  fc.record({ kind: fc.constant('pause' as const), ms: fc.oneof(anyMs, fc.constant(1e6)) }),
  fc.record({
    kind: fc.constant('allow' as const),
    remaining: fc.nat({ max: 5 }),
    ms: fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.constant(1e6)),
  }),
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('ask' as const), ask: anyAsk }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      who: fc.nat(),
      sign: fc.constantFrom(ok, ok, answered, aborted, broken, broken, broken, timedOut),
      told: anyTold,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: anyMs }) },
  fc.record({ kind: fc.constantFrom('leave' as const, 'renew' as const), who: fc.nat() }),
  fc.record({ kind: fc.constant('spend' as const) }),
);
const anyRun = fc.record({
  steps: fc.array(anyStep, { maxLength: 80, size: 'max' }),
  chance: fc.nat({ max: 2 ** 32 - 1 }),
  options: fc.record({
    budget: fc.record({ maxTokens: fc.constantFrom(0, 1, 3, 10) }),
    slots: fc.record({
      maxInFlight: fc.constantFrom(1, 2, 5, Infinity),
      maxQueued: fc.constantFrom(0, 2, Infinity),
      queueTimeoutMs: fc.constantFrom(500, Infinity),
    }),
  }),
});
type Run = typeof anyRun extends fc.Arbitrary<infer R> ? R : never;

interface Person {
  readonly ask: Omit<Ask, 'onHold'>;
  waiter?: Waiter | undefined;
  askedAt: number;
  readonly turns: Turn[];
  hasLeft: boolean;
}

interface Flight {
  readonly endpoint: string;
  readonly isCanary: boolean;
  readonly at: number;
}

/** The kinds of broken promise, each with what happened. */
const promises = [
  'more in flight than there are places',
  'more than one canary under way',
  'sent before the end of a pause',
  'sent more than was left',
  'ended more than once, or after it had left',
  'waited for longer than it would',
  'gave up too soon',
  'lost',
  'the budget out of its bounds',
  'more timers than events',
  'told of a wait that is over',
] as const;
type Broken = (typeof promises)[number];

/** Plays it all, then lets the origin be well, and tells which promises were broken. */
function play({ steps, chance, options }: Run): Set<Broken> {
  const found = new Set<Broken>();
  const clock = createVirtualClock();
  const gate = createGate(clock, seededRandom(chance), {
    ...options,
    share: false,
  });
  const { maxInFlight, queueTimeoutMs } = options.slots;
  const people: Person[] = [];
  const flights: Flight[] = [];
  let pausedUntil = 0;
  let left = Infinity;
  let resetAt = 0;
  let events = 0;

  const send = (endpoint: string, isCanary: boolean): void => {
    const now = clock.now();
    flights.push({ endpoint, isCanary, at: now });
    if (flights.length > maxInFlight && !isCanary)
      found.add('more in flight than there are places');
    // One that does not come back for so long may be given up.
    const canaries = flights.filter((flight) => flight.isCanary && now - flight.at < 35_000);
    if (canaries.length > 1) found.add('more than one canary under way');
    if (now < pausedUntil) found.add('sent before the end of a pause');
    if (now < resetAt && --left < 0) found.add('sent more than was left');
  };
  const ask = (wanted: Omit<Ask, 'onHold'>): void => {
    if (gate.tryEnter(wanted.isNew)) return send(wanted.endpoint, false);
    const person: Person = { ask: wanted, askedAt: clock.now(), turns: [], hasLeft: false };
    people.push(person);
    const onHold = (): void => {
      if (person.turns.length > 0 || person.hasLeft) found.add('told of a wait that is over');
    };
    person.waiter = gate.wait({ ...wanted, onHold }, (turn) => {
      events++;
      person.turns.push(turn);
      if (person.turns.length > 1 || person.hasLeft)
        found.add('ended more than once, or after it had left');
      if (turn !== 'expired') return send(wanted.endpoint, turn === 'canary');
      const leastMs = wanted.isFailFast ? 0 : Math.min(wanted.holdMs, queueTimeoutMs);
      if (clock.now() < person.askedAt + leastMs) found.add('gave up too soon');
    });
    if (!person.waiter) person.hasLeft = true;
  };
  const settle = (flight: Flight, sign: Sign, told: Told): void => {
    const now = clock.now();
    flights.splice(flights.indexOf(flight), 1);
    if (told.kind === 'pause') {
      pausedUntil = Math.max(pausedUntil, now + told.ms);
      gate.pause(told.ms);
    } else if (told.kind === 'allow') {
      resetAt = now + told.ms;
      left = told.remaining - flights.length;
      gate.allow({ remaining: told.remaining, resetAt });
    }
    gate.settle(flight.endpoint, flight.isCanary, sign, now - flight.at, sign);
  };
  const check = (): void => {
    const now = clock.now();
    for (const {
      turns,
      hasLeft,
      askedAt,
      ask: { holdMs },
    } of people) {
      if (turns.length === 0 && !hasLeft && now >= askedAt + holdMs)
        found.add('waited for longer than it would');
    }
    const tokens = gate.budget.getState();
    if (!(tokens >= 0 && tokens <= options.budget.maxTokens))
      found.add('the budget out of its bounds');
    if (clock.fired() > 3 * events + 10) found.add('more timers than events');
  };

  for (const step of steps) {
    events++;
    const waiting = people.filter(({ turns, hasLeft }) => turns.length === 0 && !hasLeft);
    if (step.kind === 'ask') ask(step.ask);
    else if (step.kind === 'advance') clock.advance(step.ms);
    else if (step.kind === 'spend') gate.budget.spend();
    else if (step.kind === 'settle') {
      const flight = flights[step.who % flights.length];
      if (flight) settle(flight, step.sign, step.told);
    } else {
      const person = waiting[step.who % waiting.length];
      if (person?.waiter) {
        if (step.kind === 'leave') person.hasLeft = true;
        else person.askedAt = clock.now();
        gate[step.kind](person.waiter);
      }
    }
    check();
  }
  // The origin is well, and answers everything within 10 ms; what was told of limits passes.
  for (let round = 0; round < 2000; round++) {
    const flight = flights[0];
    clock.advance(flight ? 10 : 1e6);
    if (flight) settle(flight, ok, { kind: 'nothing' });
    events++;
    check();
    if (flights.length === 0 && clock.pending() === 0) break;
  }
  const isLimited = gate.limit.getState().releaseAt > clock.now();
  if (!isLimited && people.some(({ turns, hasLeft }) => turns.length === 0 && !hasLeft))
    found.add('lost');
  return found;
}

/** The first run that breaks each promise, if there is one. */
const firstBroken = new Map<Broken, string>();

beforeAll(() => {
  fc.assert(
    fc.property(anyRun, (run) => {
      for (const what of play(run)) {
        const text = JSON.stringify(run.steps);
        const known = firstBroken.get(what);
        if (!known || text.length < known.length) firstBroken.set(what, text);
      }
    }),
    { seed, numRuns: runs },
  );
});

/** Not kept yet, because the late end of a canary that was given up also ends the one that is out. */
const notKept: readonly Broken[] = ['more than one canary under way'];

describe(`whatever happens to a gate in whatever order (seed ${seed}), nothing is`, () => {
  test.for(promises.filter((promise) => !notKept.includes(promise)))('%s', (promise) => {
    expect(firstBroken.get(promise)).toBeUndefined();
  });

  test.fails.for(notKept)('%s', (promise) => {
    expect(firstBroken.get(promise)).toBeUndefined();
  });
});
