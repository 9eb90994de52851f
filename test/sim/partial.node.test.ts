import { expect, test } from 'vitest';
import { runPartial } from '../../sim/partial/run-partial.ts';

test('React Query answers what is well in 70 ms, whatever hangs beside it', async () => {
  const figures = await runPartial({
    policy: 'react-query',
    kind: 'widget hangs',
    seed: 1,
    tabs: 10,
  });
  expect(figures).toMatchObject({ failed: 0, paused: 0 });
  expect(Math.round(figures.meanMs)).toBe(70);
});

test('React Query has every answer one round trip after a change of networks', async () => {
  for (const kind of ['mobile, shown offline', 'mobile, shown after'] as const) {
    const { completeMs } = await runPartial({ policy: 'react-query', kind, seed: 1 });
    expect(completeMs).toBe(420);
  }
});

test('a budget fails what an error meets once its bucket is empty', async () => {
  const run = async (policy: 'react-query' | 'full-jitter-budget') =>
    (await runPartial({ policy, kind: '10 % errors', seed: 1 })).failed;
  expect(await run('react-query')).toBe(0);
  expect(await run('full-jitter-budget')).toBeGreaterThan(0.005);
});

test('where 70 % of all requests fail for ever, more is answered than by plain retries, and as soon', async () => {
  const run = (policy: 'react-query' | 'steadfetch') =>
    runPartial({ policy, kind: '70 % errors', seed: 1, tabs: 20 });
  const [own, plain] = [await run('steadfetch'), await run('react-query')];
  expect(own.failed).toBeLessThan(plain.failed);
  expect(own.prompt).toBeGreaterThan(plain.prompt);
});

test('at 90 % errors of one endpoint a page load of 30 is paused only where all of it fails at first', async () => {
  const run = (policy: 'react-query' | 'steadfetch') =>
    runPartial({ policy, kind: '90 % errors, one endpoint', seed: 1, tabs: 20 });
  const [own, plain] = [await run('steadfetch'), await run('react-query')];
  // All 30 first requests fail in one of the twenty pages: 0.9 ** 30 is 4 %.
  expect(own.paused).toBe(0.05);
  expect(own.prompt).toBeGreaterThan(plain.prompt - 0.02);
});
