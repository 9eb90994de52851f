import { QueryObserver } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { createRig, type Rig } from '../rig.tsx';

function observe(rig: Rig, path: string): QueryObserver {
  const observer = new QueryObserver(rig.client, {
    queryKey: [path] as readonly unknown[],
    queryFn: () => rig.steady.json(`http://api.example${path}`),
  });
  observer.subscribe(() => {});
  return observer;
}

const limited = { status: 429, headers: { 'retry-after': '60' } };

// Users' tests of a failure run all timers, which ends with React Query alone. Vitest gives up after 10,000 of them.
test.each([
  ['503', 503, { requests: 1452, lastAt: 43_226_998 }],
  ['no answer', 'network', { requests: 1452, lastAt: 43_226_998 }],
  ['no headers', 'hang', { requests: 1090, lastAt: 43_225_800 }],
  ['429', limited, { requests: 16, lastAt: 441_500 }],
  ['500', 500, { requests: 15, lastAt: 116_998 }],
] as const)(
  'nothing repeats for ever after a failure on screen: %s',
  async (_what, answer, told) => {
    const rig = createRig({ health: {} });
    const paths = ['/items', '/users'];
    for (const path of paths) rig.server.plan(path, ...Array.from({ length: 3000 }, () => answer));
    const observers = paths.map((path) => observe(rig, path));
    await vi.runAllTimersAsync();
    const shown = observers.map((observer) => observer.getCurrentResult().status);
    expect(shown).toEqual(['error', 'error']);
    const { length: requests } = rig.server.times();
    expect({ requests, lastAt: rig.server.times().at(-1) }).toEqual(told);
  },
);

test('after twelve hours of an outage a press on Refresh is sent at once, and shows the data', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/items', ...Array.from({ length: 3000 }, () => 503));
  const observer = observe(rig, '/items');
  await vi.runAllTimersAsync();
  await rig.time.advance(3_600_000);
  rig.server.unplan('/items');
  const { status } = await observer.refetch();
  expect(status).toBe('success');
  expect(rig.server.times().at(-1)).toBe(rig.elapsed());
});
