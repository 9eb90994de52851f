import { describe, expect, test } from 'vitest';
import type { Ask, Waiter } from '../../../src/core/origin/ask.ts';
import {
  everything,
  firstOf,
  groupsOf,
  isWithin,
  type ProbeFailures,
  Refusals,
  WaitQueue,
} from '../../../src/core/origin/wait-queue.ts';

const usual: Ask = {
  endpoint: 'a',
  resource: 'a',
  limitScope: 'a',
  isNew: true,
  risk: 0,
  priority: 'user-visible',
  isForeground: () => true,
  isFailFast: false,
  id: 1,
  askedAt: 1000,
  maxPauseMs: 60_000,
};

/** A queue whose waiters have names, and what each of them is told. */
function openQueue() {
  const queue = new WaitQueue();
  const names = new Map<Waiter, string>();
  const told: string[] = [];
  let onTold = (): void => {};
  const add = (
    name: string,
    own: Partial<Ask> = {},
    begun: Partial<Pick<Waiter, 'expiresAt' | 'endsFrom' | 'hasFailed'>> = {},
  ): Waiter => {
    const waiter = queue.add(
      { ...usual, ...own },
      { expiresAt: 61_000, endsFrom: 0, hasFailed: false, isOther: true, ...begun },
      {
        onPause({ reason }) {
          told.push(`${name}: ${reason}`);
          onTold();
        },
        take() {},
      },
    );
    names.set(waiter, name);
    return waiter;
  };
  const nameOf = (waiter: Waiter | undefined): string | undefined => waiter && names.get(waiter);
  const announce = (reason: 'queued' | 'server-down'): boolean =>
    queue.announce(() => ({ reason, retryAt: undefined }));
  return {
    queue,
    add,
    told,
    announce,
    onTold: (act: () => void) => void (onTold = act),
    first: (failures?: ProbeFailures) => nameOf(firstOf(queue.groups(), () => failures)),
    names: () => queue.groups().map(({ waiters }) => waiters.map(nameOf).join(' ')),
    seen: () => queue.groups().flatMap((group) => group.seen().map(nameOf)),
    ends: () => queue.groups().map(({ expiresAt }) => expiresAt),
  };
}

const hidden = { isForeground: () => false } as const;

describe('the groups', () => {
  test('of the whole origin are all, and those of an endpoint its own', () => {
    const { queue, add } = openQueue();
    for (const endpoint of ['a', 'b']) add(endpoint, { endpoint });
    const namesIn = (scope: string): string[] =>
      groupsOf(scope, queue.groups()).map(({ shared }) => shared.endpoint);
    expect([namesIn(everything), namesIn('b'), namesIn('c')]).toEqual([['a', 'b'], ['b'], []]);
    const isIn = (scope: string): boolean[] =>
      queue.groups().map((group) => isWithin(scope, group));
    expect([isIn(everything), isIn('b')]).toEqual([
      [true, true],
      [false, true],
    ]);
  });

  test.each<[string, Partial<Ask>, Partial<Ask>, number]>([
    ['its resource, and its id', { resource: 'a/1', id: 2 }, { resource: 'a/2' }, 1],
    ['whether it is new, where it may be sent twice', { isNew: true }, { isNew: false }, 1],
    ['whether it is new, where not', { risk: 2, isNew: true }, { risk: 2, isNew: false }, 2],
    ['its risk', { risk: 1 }, { risk: 2, isNew: false }, 2],
    ['its endpoint and its limit', { endpoint: 'ab', limitScope: 'c' }, { limitScope: 'bc' }, 2],
    ['its priority', { priority: 'background' }, {}, 2],
    ['whether it fails at once', { isFailFast: true }, {}, 2],
    ['whether it is made once', { isOnce: true }, {}, 2],
    ['whether it needs a network', { mayBeOffline: true }, {}, 2],
  ])('of two that differ in %s', (_what, one, other, count) => {
    const { queue, add } = openQueue();
    add('one', one);
    add('other', other);
    expect(queue.groups()).toHaveLength(count);
  });

  test('of two of which one has failed are two', () => {
    const { queue, add } = openQueue();
    add('one');
    add('other', {}, { hasFailed: true });
    expect(queue.groups().map(({ shared }) => shared.hasFailed)).toEqual([false, true]);
  });

  test('end with their last waiter, which leaves once', () => {
    const { queue, add, names } = openQueue();
    const [one, two, other] = [add('one'), add('two'), add('other', { endpoint: 'b' })];
    const left = [queue.remove(one), queue.remove(one)];
    expect([left, names(), queue.size]).toEqual([[true, false], ['two', 'other'], 2]);
    expect([queue.remove(two), queue.remove(two), names()]).toEqual([true, false, ['other']]);
    expect([queue.remove(other), names(), queue.size]).toEqual([true, [], 0]);
  });

  test('count those that wait for a limit', () => {
    const { queue, add } = openQueue();
    add('one');
    add('two');
    add('three', { endpoint: 'b' });
    add('four', { limitScope: 'd' });
    expect(['a', 'd', 'e'].map((scope) => queue.sizeOf(scope))).toEqual([3, 1, 0]);
  });
});

describe('the order of a group', () => {
  test('is by the time of the request, and then by the operation; of one operation, as they came', () => {
    const { queue, add, names } = openQueue();
    add('late', { askedAt: 3000 });
    const first = add('first of 5', { id: 5 });
    add('second of 5', { id: 5 });
    add('of 4', { id: 4 });
    add('early', { askedAt: 999, id: 9 });
    add('of 6', { id: 6 });
    expect(names()).toEqual(['early of 4 first of 5 second of 5 of 6 late']);
    queue.remove(first);
    expect(names()).toEqual(['early of 4 second of 5 of 6 late']);
  });

  test('is by a new time for one that is requested again, which may wait as long from then on', () => {
    const { queue, add, names, ends } = openQueue();
    const [one, two] = [add('one'), add('two', { id: 2 })];
    queue.renew(one, 5000);
    expect([names(), ends(), one.expiresAt, queue.size]).toEqual([
      ['two one'],
      [61_000],
      65_000,
      2,
    ]);
    queue.remove(two);
    queue.renew(two, 6000);
    expect([names(), queue.size]).toEqual([['one'], 1]);
  });

  test('of two groups that are alike in all is that in which they came', () => {
    const { add, first } = openQueue();
    add('one');
    add('other', { endpoint: 'b' });
    expect(first()).toBe('one');
  });
});

describe('of those that wait in one group', () => {
  test('the first that a user waits for goes first, also once others before it have left', () => {
    const { queue, add, first } = openQueue();
    const gone = add('hidden', hidden);
    add('hidden, too', { ...hidden, id: 2 });
    add('seen', { id: 3 });
    expect(first()).toBe('seen');
    queue.remove(gone);
    expect(first()).toBe('seen');
  });

  test('one that comes before those that were read is read', () => {
    const { add, first } = openQueue();
    add('hidden', hidden);
    add('seen', { id: 3 });
    expect(first()).toBe('seen');
    add('seen, and early', { askedAt: 999 });
    expect(first()).toBe('seen, and early');
  });

  test('who has come into view is read when the page says so, and otherwise after a second', () => {
    const { queue, add, first } = openQueue();
    let isSeen = false;
    add('hidden', hidden);
    add('moving', { id: 2, isForeground: () => isSeen });
    const firstAt = (now: number, isChanged: boolean): string | undefined => {
      queue.rereadForeground(now, isChanged);
      return first();
    };
    expect(firstAt(5000, false)).toBe('hidden');
    isSeen = true;
    expect([firstAt(5000, false), firstAt(5999, false), firstAt(6000, false)]).toEqual([
      'hidden',
      'hidden',
      'moving',
    ]);
    isSeen = false;
    expect([firstAt(6100, false), firstAt(6100, true)]).toEqual(['hidden', 'hidden']);
    isSeen = true;
    expect([firstAt(6200, false), firstAt(6200, true)]).toEqual(['hidden', 'moving']);
    isSeen = false;
    expect(firstAt(7000, false)).toBe('hidden');
  });

  test('a probe that nobody waits for goes behind that of another endpoint, whoever waits beside it', () => {
    const { add, first } = openQueue();
    const ofUrl = (resource: string): number => (resource === 'a' ? 5 : 1);
    add('of a URL that has failed often');
    add('in the background', { ...hidden, id: 2, resource: 'a/2' });
    add('of another endpoint', { endpoint: 'b', resource: 'b', askedAt: 2000 });
    expect(first({ ofEndpoint: 2, ofUrl })).toBe('of another endpoint');
  });

  test('that of the first URL which has failed least is the probe, also one that never has', () => {
    const failures: Readonly<Record<string, number>> = { 'a/1': 2, 'a/2': 1, 'a/3': 1, 'a/4': 0 };
    const ofUrl = (resource: string): number => failures[resource] ?? 9;
    const { queue, add, first } = openQueue();
    for (const id of [1, 2, 3]) add(`${id}`, { id, resource: `a/${id}` });
    expect(first({ ofEndpoint: 2, ofUrl })).toBe('2');
    const never = add('4', { id: 4, resource: 'a/4' });
    expect(first({ ofEndpoint: 2, ofUrl })).toBe('4');
    queue.remove(never);
    expect(first({ ofEndpoint: 2, ofUrl })).toBe('2');
  });

  test('probes are for the first that a user waits for, and for refreshes of what is shown', () => {
    const { queue, add, seen } = openQueue();
    const refresh = { ...hidden, isRefreshSeen: () => true } as const;
    const shown = add('shown', { ...refresh, id: 2 });
    add('not shown', { ...refresh, id: 3, isRefreshSeen: () => false });
    add('background', { ...refresh, id: 4, priority: 'background' });
    add('hidden', { ...hidden, id: 5 });
    expect(seen()).toEqual(['shown']);
    add('seen', { id: 6 });
    add('seen, too', { id: 7 });
    expect(seen()).toEqual(['seen', 'shown']);
    queue.remove(shown);
    expect(seen()).toEqual(['seen']);
  });
});

test('a group ends with the first of its waits, which all move by the time that the device has slept', () => {
  const { queue, add, ends } = openQueue();
  const one = add('one', {}, { expiresAt: 5000 });
  const two = add('two', { id: 2 }, { expiresAt: 9000 });
  expect(ends()).toEqual([5000]);
  queue.remove(one);
  // It is read again when that time has come.
  expect(ends()).toEqual([5000]);
  queue.groups()[0]?.updateExpiry();
  expect(ends()).toEqual([9000]);
  add('three', { id: 3 }, { expiresAt: 7000 });
  queue.groups()[0]?.updateExpiry();
  expect(ends()).toEqual([7000]);
  queue.extend(500);
  expect([ends(), two.expiresAt]).toEqual([[7500], 9500]);
});

describe('why it waits', () => {
  test('each is told once, who comes later too, and all again when that changes', () => {
    const { add, told, announce } = openQueue();
    add('one');
    announce('queued');
    add('two', { id: 2 });
    announce('queued');
    announce('queued');
    expect(told.splice(0)).toEqual(['one: queued', 'two: queued']);
    announce('server-down');
    expect(told).toEqual(['one: server-down', 'two: server-down']);
  });

  test('who has left is not told', () => {
    const { queue, add, told, announce } = openQueue();
    const one = add('one');
    add('two', { id: 2 });
    queue.remove(one);
    announce('queued');
    const three = add('three', { id: 3 });
    queue.remove(three);
    announce('queued');
    expect(told).toEqual(['two: queued']);
  });

  test('a reason that changes as the first is told is the only one that the others hear', () => {
    const { add, told, announce, onTold } = openQueue();
    for (const id of [1, 2, 3]) add(`${id}`, { id });
    onTold(() => {
      onTold(() => {});
      announce('server-down');
    });
    announce('queued');
    expect(told).toEqual(['1: queued', '1: server-down', '2: server-down', '3: server-down']);
  });

  test.each([
    [499, 499, false, 0],
    [500, 500, true, 0],
    [501, 500, true, 1],
  ])('%d are told %d in one task', (count, first, isMore, later) => {
    const { add, told, announce } = openQueue();
    for (let id = 0; id < count; id++) add(`${id}`, { id, endpoint: `${id % 3}` });
    expect([announce('queued'), told.splice(0).length]).toEqual([isMore, first]);
    expect([announce('queued'), told.length]).toEqual([false, later]);
  });
});

describe('a refusal', () => {
  const from = (refusals: Refusals, now: number, retriesAt?: number[], endpoint = 'a'): number =>
    refusals.endsFrom({ endpoint, retriesAt }, now) - now;

  test('comes at once, and within ten seconds a second after the last one', () => {
    const refusals = new Refusals();
    expect(from(refusals, 50_000)).toBe(0);
    refusals.record('a', 50_000);
    expect([50_000, 50_400, 59_999, 60_000].map((now) => from(refusals, now))).toEqual([
      1000, 600, -8999, 0,
    ]);
    expect(from(refusals, 50_400, [], 'b')).toBe(0);
  });

  test('of a query comes when its last retry would', () => {
    const refusals = new Refusals();
    refusals.record('a', 50_000);
    expect(from(refusals, 50_100, [51_000, 57_150])).toBe(7050);
    expect(from(refusals, 50_100, [50_200])).toBe(900);
    expect(from(refusals, 50_100, [])).toBe(900);
  });

  test('is forgotten where fifty other endpoints were refused since', () => {
    const refusals = new Refusals();
    refusals.record('a', 1000);
    refusals.record('b', 1000);
    refusals.record('a', 1000);
    for (let id = 0; id < 49; id++) refusals.record(`${id}`, 1000);
    expect([from(refusals, 1000), from(refusals, 1000, [], 'b')]).toEqual([1000, 0]);
    refusals.record('49', 1000);
    expect(from(refusals, 1000)).toBe(0);
  });
});
