import { expect, test } from 'vitest';
import type { Ask } from '../../../src/core/origin/ask.ts';
import { firstOf, WaitQueue } from '../../../src/core/origin/wait-queue.ts';

let lastId = 0;
const usual: Omit<Ask, 'id'> = {
  endpoint: 'a',
  resource: 'a',
  limitScope: 'a',
  isNew: true,
  risk: 0,
  priority: 'user-visible',
  isForeground: () => true,
  isFailFast: false,
  askedAt: 1000,
  maxPauseMs: 60_000,
};
const nobody = { onPause() {}, take() {} };

/** What differs between two that wait, the one that goes first at the left. `failures`: of the endpoint of a probe. */
type Pair = readonly [name: string, first: Partial<Ask>, second: Partial<Ask>];

const pairs: readonly Pair[] = [
  ['asked first', { askedAt: 999 }, {}],
  ['of those asked at once, the operation that began first', { id: 1 }, { id: 2 }],
  ['what a user waits for, however late it came', { askedAt: 2000 }, { isForeground: () => false }],
  ['what blocks the user', { askedAt: 2000, priority: 'user-blocking' }, {}],
  ['background that is declared, last', { askedAt: 2000 }, { priority: 'background' }],
];

/** The order of those that go, each by what it is called. */
function orderOf(
  asks: readonly (readonly [name: string, ask: Partial<Ask>])[],
  failuresOf: (endpoint: string) => number | undefined = () => undefined,
): string[] {
  const queue = new WaitQueue();
  const names = new Map<unknown, string>();
  const begun = { expiresAt: Infinity, endsFrom: 0, hasFailed: false, isOther: true };
  for (const [name, ask] of asks)
    names.set(queue.add({ ...usual, id: ++lastId, ...ask }, begun, nobody), name);
  const order: string[] = [];
  while (queue.size > 0) {
    const first = firstOf(queue.groups(), ({ shared }) => {
      const ofEndpoint = failuresOf(shared.endpoint);
      const ofUrl = (resource: string): number => failuresOf(resource) ?? 0;
      return ofEndpoint === undefined ? undefined : { ofEndpoint, ofUrl };
    });
    if (!first) break;
    queue.remove(first);
    order.push(names.get(first) ?? '');
  }
  return order;
}

test.each(pairs)('goes first: %s', (_name, first, second) => {
  for (const endpoint of ['a', 'b']) {
    const asks = [['second', second] as const, ['first', { ...first, endpoint }] as const];
    expect(orderOf(asks)).toEqual(['first', 'second']);
  }
});

test('a probe goes before anything else; of several, that of the endpoint that has failed least, then that with the least risk', () => {
  const asks = [
    ['no probe', { endpoint: 'up', askedAt: 0, priority: 'user-blocking' }],
    ['one that must not be sent twice', { endpoint: 'down', risk: 2, askedAt: 1 }],
    ['of an endpoint that has failed often', { endpoint: 'broken' }],
    ['of one that has failed twice', { endpoint: 'down', isForeground: () => false }],
  ] as const;
  const failures = { up: undefined, down: 2, broken: 9 } as const;
  expect(orderOf(asks, (endpoint) => failures[endpoint as keyof typeof failures])).toEqual([
    'of one that has failed twice',
    'one that must not be sent twice',
    'of an endpoint that has failed often',
    'no probe',
  ]);
});

test('of the URLs of one endpoint, that which has failed least is the probe', () => {
  const asks = ['often', 'twice', 'once'].map((name) => [name, { resource: name }] as const);
  const failures = { a: 8, often: 5, twice: 2, once: 1 } as const;
  expect(orderOf(asks, (name) => failures[name as keyof typeof failures])).toEqual([
    'once',
    'twice',
    'often',
  ]);
});
