import { useQueries } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig, setVisible } from './rig.tsx';

const count = 10;
const again = (at: number): number[] => Array.from({ length: count }, () => at);

function showTen(rig: Rig): void {
  function Items() {
    useQueries({
      queries: Array.from({ length: count }, (_, id) => ({
        queryKey: ['item', id],
        queryFn: () => rig.steady.json(`http://api.example/items/${id}`),
      })),
    });
    return null;
  }
  rig.show(<Items />);
}

test('what was hidden for two minutes is not called down: it goes when it is seen, and nothing is paused', async () => {
  const rig = createRig({ health: {} });
  for (let id = 0; id < count; id++) rig.server.plan(`/items/${id}`, 503);
  // In their waits for a retry nobody sees them, so React Query asks for nothing.
  showTen(rig);
  setVisible(false);
  await rig.time.advance(120_000);
  const sent = rig.server.sent.length;
  const statuses = new Set<string>();
  rig.client.getQueryCache().subscribe(({ query }) => statuses.add(query.state.fetchStatus));
  setVisible(true);
  await rig.time.advance(1000);
  expect(rig.server.times().slice(sent)).toEqual(again(120_000));
  expect([...statuses]).toEqual(['fetching', 'idle']);
});

test('after a minute without a request, its failed queries are fetched again once something is answered', async () => {
  const rig = createRig({ health: {}, policy: { whenDown: 'fail' } });
  for (let id = 0; id < count; id++) rig.server.plan(`/items/${id}`, 503);
  showTen(rig);
  await rig.time.advance(1000);
  // Seen, they would find out by themselves.
  setVisible(false);
  await rig.time.advance(89_000);
  const statusesOf = () =>
    rig.client
      .getQueryCache()
      .getAll()
      .map(({ state }) => state.status);
  expect(new Set(statusesOf())).toEqual(new Set(['error']));
  await rig.steady.fetch('http://api.example/items/11');
  await rig.time.advance(1000);
  expect(rig.server.times().slice(count)).toEqual([90_000, ...again(90_500)]);
  expect(new Set(statusesOf())).toEqual(new Set(['success']));
});
