import { expect, test } from 'vitest';
import { type CartOrder, type DeadOrder, settleAccount, type Told } from './account.ts';

const order = (no: number, cart?: string): CartOrder => ({
  no,
  article: 'a lamp',
  ...(cart !== undefined && { cart }),
});
const orders = [...[1, 2, 3].map((no) => order(no, 'red')), order(4, 'blue'), order(5)];
const refusesThree = ({ no }: CartOrder): boolean => no === 3;

function account(told: readonly Told[], sequence: readonly number[], dead: DeadOrder[] = []) {
  const counts: Record<number, number> = {};
  for (const no of sequence) counts[no] = (counts[no] ?? 0) + 1;
  return settleAccount(
    orders,
    told,
    { orders: counts, sequence },
    { dead, left: [5] },
    refusesThree,
  );
}
const begun = (page: string, ...nos: number[]): Told => ({ kind: 'begun', page, nos });
const saved = (...nos: number[]): Told => ({ kind: 'saved', nos, isDurable: true });
const none = { lost: [], twice: [], early: [], wronglyDead: [] };

test('what was kept and has arrived once, in its order, is in order', () => {
  expect(account([begun('a', 1, 2, 4, 5), saved(1, 2, 4, 5)], [5, 1, 4, 2])).toEqual(none);
});

test('what was told as kept on the disk, or as arrived, and is nowhere, is lost; what is still in the outbox is not', () => {
  const told: Told[] = [
    begun('a', 1, 2, 3, 4, 5),
    saved(1, 3, 5),
    { kind: 'saved', nos: [2], isDurable: false },
    { kind: 'delivered', nos: [4] },
  ];
  const dead = [{ no: 3, reason: 'refused', processed: 'no' }];
  expect(account(told, [], dead)).toEqual({ ...none, lost: [1, 4] });
});

test('what was on the disk when the browser deleted it is not lost by the outbox; what has arrived, and what was kept since, would be', () => {
  const told: Told[] = [
    begun('a', 1, 2),
    saved(1, 2),
    { kind: 'delivered', nos: [2] },
    { kind: 'erased', nos: [] },
    begun('b', 4),
    saved(4),
  ];
  expect(account(told, [])).toEqual({ ...none, lost: [4, 2] });
});

test('what is in the ledger more than once is there twice', () => {
  expect(account([begun('a', 4, 5), saved(4, 5)], [4, 5, 4])).toEqual({ ...none, twice: [4] });
});

test('of one cart, what one page has submitted later must not be in the ledger earlier', () => {
  expect(account([begun('a', 1, 2), saved(1, 2)], [2, 1])).toEqual({ ...none, early: [2] });
});

test('of one cart, what another page has submitted after an earlier one was kept must come after it', () => {
  const told = [begun('a', 1), saved(1), begun('b', 2), saved(2)];
  expect(account(told, [2, 1])).toEqual({ ...none, early: [2] });
  // At the same time: nobody knows which was first.
  const [one, two, three, four] = told as [Told, Told, Told, Told];
  expect(account([one, three, two, four], [2, 1])).toEqual(none);
});

test.each([
  { no: 3, reason: 'max-age', processed: 'no' },
  { no: 3, reason: 'refused', processed: 'yes' },
  { no: 4, reason: 'refused', processed: 'no' },
])('a dead letter has a reason that is true: %o is none', (dead) => {
  expect(account([begun('a', dead.no)], [], [dead])).toMatchObject({ wronglyDead: [dead.no] });
});

test('a dead letter is not in the ledger', () => {
  const dead = [{ no: 3, reason: 'refused', processed: 'no' }];
  expect(account([begun('a', 3)], [3], dead)).toMatchObject({ wronglyDead: [3] });
});
