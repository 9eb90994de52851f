import { QueryObserver } from '@tanstack/react-query';
import { describe, expect, test } from 'vitest';
import type { TabMessage } from '../../../src/core/tabs/leader.ts';
import { RateLimits } from '../../../src/core/origin/limits/rate-limits.ts';
import { createRig } from '../react-query/rig.tsx';
import { createVirtualClock } from './virtual-clock.ts';

const half = (): number => 0.5;

/** The limits of one tab, and what it tells the others. */
function openLimits(clock = createVirtualClock()) {
  const messages: TabMessage[] = [];
  const limits = new RateLimits(clock, half, (message) => void messages.push(message));
  /** The scopes that wait at present. */
  const waiting = (...scopes: readonly string[]): string =>
    scopes.filter((scope) => limits.until({ limitScope: scope }) > clock.now()).join('');
  /** Sends a request, and has it refused at once. */
  const refuse = (...scopes: readonly string[]): void =>
    scopes.forEach((scope) => limits.refuse(scope, clock.now(), undefined));
  /** Sends a request as soon as it may go. @returns how long that took. */
  const send = (scope: string): number => {
    const waitMs = Math.max(0, limits.until({ limitScope: scope }) - clock.now());
    clock.advance(waitMs);
    limits.spend(scope, () => 0);
    return waitMs;
  };
  const answer = (scope: string): void => {
    send(scope);
    limits.accept(scope, clock.now());
  };
  return { clock, limits, messages, waiting, refuse, send, answer };
}

describe('endpoints that are refused without a time', () => {
  test('are paced together from three within a second on: what is sent to one delays the others', () => {
    const { clock, waiting, refuse, send, answer } = openLimits();
    refuse('a', 'b', 'c');
    clock.advance(275);
    expect(waiting('a', 'b', 'c')).toBe('');
    answer('a');
    expect(waiting('a', 'b', 'c')).toBe('abc');
    // The first gap is that of three which begin side by side.
    expect(send('b')).toBe(71);
  });

  test('are not held back where they were not refused themselves', () => {
    const { waiting, refuse } = openLimits();
    refuse('a', 'b', 'c');
    expect(waiting('a', 'b', 'c', 'd')).toBe('abc');
  });

  test('join as soon as they are refused, too', () => {
    const { clock, waiting, refuse, answer } = openLimits();
    refuse('a', 'b', 'c');
    clock.advance(5000);
    refuse('d');
    clock.advance(1000);
    answer('a');
    expect(waiting('b', 'd')).toBe('bd');
  });

  const apart: Readonly<Record<string, (rig: ReturnType<typeof openLimits>) => void>> = {
    'are only two': ({ refuse }) => refuse('a', 'b'),
    'are not refused within a second': ({ clock, refuse }) => {
      for (const scope of ['a', 'b', 'c']) {
        refuse(scope);
        clock.advance(1000);
      }
    },
    'are told a time': ({ limits, clock }) =>
      ['a', 'b', 'c'].forEach((scope) => limits.refuse(scope, clock.now(), 100)),
    'know their window': ({ limits, clock, refuse }) => {
      for (const scope of ['a', 'b', 'c']) {
        limits.allow(scope, 0, 0, 100);
        refuse(scope);
      }
      clock.advance(0);
    },
    'were told a time afterwards': ({ limits, clock, refuse }) => {
      refuse('a', 'b', 'c');
      for (const scope of ['a', 'b', 'c']) limits.refuse(scope, clock.now(), 100);
    },
    'have been quiet for a minute': ({ clock, refuse }) => {
      refuse('a', 'b', 'c');
      clock.advance(60_000);
      refuse('a', 'b');
    },
  };
  test.each(Object.entries(apart))('have a pace each where they %s', (_what, begin) => {
    const rig = openLimits();
    begin(rig);
    rig.clock.advance(2000);
    rig.answer('a');
    expect(rig.waiting('b', 'c')).toBe('');
  });

  test('keep the time that one of them was told before, and only that one waits for it', () => {
    const { clock, limits, waiting, refuse } = openLimits();
    limits.refuse('a', clock.now(), 30_000);
    refuse('a', 'b', 'c', 'd');
    clock.advance(2000);
    expect(waiting('a', 'b', 'c', 'd')).toBe('a');
  });

  test('leave the others when they are refused, and again, while ten of those are answered', () => {
    const { clock, limits, waiting, refuse, send, answer } = openLimits();
    refuse('a', 'b', 'c');
    for (const round of [1, 2]) {
      for (let count = 0; count < 10; count++) answer(round === 1 ? 'b' : 'c');
      expect(limits.until({ limitScope: 'a' })).toBe(limits.until({ limitScope: 'b' }));
      send('a');
      clock.advance(50);
      refuse('a');
    }
    // It has a limit of its own from now on, however often it is refused.
    const before = limits.until({ limitScope: 'b' });
    for (let round = 0; round < 3; round++) refuse('a');
    expect([limits.until({ limitScope: 'b' }), limits.until({ limitScope: 'a' }) > before]).toEqual(
      [before, true],
    );
    clock.advance(2000);
    refuse('a');
    expect(waiting('a', 'b', 'c')).toBe('a');
  });

  test('stay together where fewer of the others are answered, or one of its own', () => {
    const { clock, limits, refuse, send, answer } = openLimits();
    refuse('a', 'b', 'c');
    for (let round = 0; round < 5; round++) {
      for (let count = 0; count < 9; count++) answer('b');
      if (round > 2) answer('b');
      if (round > 2) answer('a');
      send('a');
      clock.advance(50);
      refuse('a');
      expect(limits.until({ limitScope: 'a' })).toBe(limits.until({ limitScope: 'b' }));
    }
  });

  test('go behind what others have requested before they were refused, until ten answers have come', () => {
    const { clock, limits, refuse, answer } = openLimits();
    refuse('a', 'b', 'c');
    const refusedAt = clock.now();
    expect([limits.behindFrom('a'), limits.behindFrom('d')]).toEqual([refusedAt, -Infinity]);
    answer('b');
    expect([limits.behindFrom('a'), limits.behindFrom('b')]).toEqual([refusedAt, -Infinity]);
    for (let count = 0; count < 9; count++) answer('c');
    expect(limits.behindFrom('a')).toBe(-Infinity);
  });

  test('are so in another tab, too', () => {
    const clock = createVirtualClock();
    const [one, other] = [openLimits(clock), openLimits(clock)];
    one.refuse('a', 'b', 'c', 'd');
    for (const message of one.messages) if (message.kind === 'pace') other.limits.receive(message);
    clock.advance(5000);
    other.answer('a');
    expect(other.waiting('a', 'b', 'c', 'd', 'e')).toBe('abcd');
  });
});

/** A server that takes ten requests at once, and ten a second after that, whatever they ask for. */
function createBucket(now: () => number): (path: string) => boolean {
  let [tokens, filledAt] = [10, now()];
  return () => {
    tokens = Math.min(10, tokens + (now() - filledAt) / 100);
    filledAt = now();
    if (tokens >= 1) tokens--;
    else return false;
    return true;
  };
}

/** A page with 60 queries over 20 endpoints. @returns when they were answered, and how many requests were refused. */
async function load(isRefused: (path: string) => boolean) {
  let refused = 0;
  let takes: ((path: string) => boolean) | undefined;
  const rig = createRig({
    async fetch(input) {
      const path = new URL(input as string).pathname.split('/')[1] ?? '';
      await new Promise((resolve) => void setTimeout(resolve, 50));
      takes ??= createBucket(() => rig.time.now());
      if (!isRefused(path) && takes(path)) return new Response('1');
      refused++;
      return new Response(null, { status: 429 });
    },
  });
  const answered = new Map<string, number>();
  for (let id = 0; id < 60; id++) {
    const path = `${String.fromCodePoint(97 + (id % 20))}-items/${id}`;
    new QueryObserver(rig.client, {
      queryKey: [path],
      queryFn: () => rig.steady.json<number>(`http://api.example/${path}`),
    }).subscribe(({ isSuccess }) => {
      if (isSuccess && !answered.has(path)) answered.set(path, rig.elapsed());
    });
  }
  await rig.time.advance(20_000);
  return { answered: answered.size, lastMs: Math.max(...answered.values()), refused };
}

test('a limit of a whole API is learned as one, though its requests go to 20 endpoints', async () => {
  // At least 5 s and 50 refusals are needed, because those are sent before the first answer.
  expect(await load(() => false)).toEqual({ answered: 60, lastMs: 5197, refused: 54 });
});

test('an endpoint that refuses everything beside such a limit holds none of the others back', async () => {
  const { answered, lastMs } = await load((path) => path === 'a-items');
  expect([answered, lastMs]).toEqual([57, 4816]);
});
