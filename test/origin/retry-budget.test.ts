import { expect, test, vi } from 'vitest';
import { createBudget } from '../../src/origin/retry-budget.ts';

test('ten retries are worth it by default, and the eleventh is not', () => {
  const budget = createBudget();
  const spent = Array.from({ length: 11 }, () => budget.spend());
  expect(spent).toEqual([...Array.from({ length: 10 }, () => true), false]);
  expect(budget.getState()).toBe(0);
});

test('a success puts back 0.4 tokens by default, so three pay for one retry', () => {
  const budget = createBudget({ maxTokens: 1 });
  budget.spend();
  budget.succeed();
  budget.succeed();
  expect(budget.spend()).toBe(false);
  expect(budget.getState()).toBe(0.8);
  budget.succeed();
  expect(budget.spend()).toBe(true);
  expect(budget.getState()).toBe(0);
});

test('it never holds more than its most', () => {
  const budget = createBudget({ maxTokens: 3, tokensPerSuccess: 2 });
  budget.spend();
  budget.succeed();
  budget.succeed();
  expect(budget.getState()).toBe(3);
});

test('a retry that is made whatever is left never takes it below nothing', () => {
  const budget = createBudget({ maxTokens: 1.5 });
  expect([budget.charge(), budget.getState()]).toEqual([true, 0.5]);
  expect([budget.charge(), budget.getState()]).toEqual([true, 0]);
  expect([budget.charge(), budget.getState()]).toEqual([true, 0]);
});

test('less than one token pays for nothing, and nothing is paid', () => {
  const budget = createBudget({ maxTokens: 0.99 });
  expect(budget.spend()).toBe(false);
  expect(budget.getState()).toBe(0.99);
});

test('an option of undefined means the default', () => {
  expect(createBudget({ maxTokens: undefined, tokensPerSuccess: undefined }).getState()).toBe(10);
});

test('a budget without a limit is never spent', () => {
  const budget = createBudget({ maxTokens: Infinity });
  for (let retry = 0; retry < 1000; retry++) expect(budget.spend()).toBe(true);
  expect(budget.getState()).toBe(Infinity);
});

test('it tells of every change, and not of a success that changes nothing', () => {
  const budget = createBudget({ maxTokens: 2 });
  const listener = vi.fn<() => void>();
  budget.subscribe(listener);
  budget.succeed();
  expect(listener).toHaveBeenCalledTimes(0);
  budget.spend();
  budget.succeed();
  expect(listener).toHaveBeenCalledTimes(2);
});

test('ten successes worth a tenth of a token pay for one retry', () => {
  const budget = createBudget({ maxTokens: 1, tokensPerSuccess: 0.1 });
  budget.spend();
  for (let success = 0; success < 10; success++) budget.succeed();
  expect(budget.spend()).toBe(true);
});
