import { focusManager, QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig, setVisible } from '../react-query/rig.tsx';

const api = 'http://api.example';

/** The endpoint is down from now on, and both of its URLs have failed. */
async function takeDown(rig: Rig): Promise<void> {
  for (const path of ['/things/1', '/things/2']) {
    rig.server.plan(path, 503);
    await rig.steady.fetch(api + path).catch(() => {});
  }
}

const thing = (rig: Rig, id: number, own: object = {}) => ({
  queryKey: ['thing', id],
  queryFn: () => rig.steady.json(`${api}/things/${id}`),
  ...own,
});

test('a query without data in a visible page is probed for when React Query would retry it', async () => {
  const rig = createRig({ health: {} });
  await takeDown(rig);
  new QueryObserver(rig.client, thing(rig, 1)).subscribe(() => {});
  await rig.time.advance(20_000);
  expect(rig.server.times('/things/1')).toEqual([0, 1050]);
});

test('so is one that a router loader awaits, which nobody shows', async () => {
  const rig = createRig({ health: {} });
  await takeDown(rig);
  void rig.client.fetchQuery(thing(rig, 1));
  await rig.time.advance(20_000);
  expect(rig.server.times('/things/1')).toEqual([0, 1050]);
});

test('so is a refetch of data that is shown', async () => {
  const rig = createRig({ health: {} });
  rig.client.setQueryData(['thing', 1], 'shown');
  await takeDown(rig);
  new QueryObserver(rig.client, thing(rig, 1)).subscribe(() => {});
  await rig.time.advance(20_000);
  // When React Query alone would retry it.
  expect(rig.server.times('/things/1')).toEqual([0, 1050]);
});

test('one that a component shows for the first time goes before it once the server is back', async () => {
  const rig = createRig({ health: {} });
  rig.client.setQueryData(['thing', 1], 'shown');
  await takeDown(rig);
  for (const id of [1, 2]) new QueryObserver(rig.client, thing(rig, id)).subscribe(() => {});
  await rig.time.advance(1200);
  const sent = rig.server.sent.slice(2).map(({ request }) => request);
  expect(sent).toEqual(['GET /things/2', 'GET /things/1']);
});

test('so is whatever a hidden page asks, until it is seen: then its probe goes at once', async () => {
  const rig = createRig({ health: {} });
  await takeDown(rig);
  focusManager.setFocused(false);
  new QueryObserver(rig.client, thing(rig, 1)).subscribe(() => {});
  await rig.time.advance(4000);
  expect(rig.server.times('/things/1')).toEqual([0]);
  setVisible(true);
  await rig.time.advance(0);
  expect(rig.server.times('/things/1')).toEqual([0, 4000]);
});

test('a component that comes to show one makes its probe due at once', async () => {
  const rig = createRig({ health: {} });
  await takeDown(rig);
  const rare = rig.steady.queryPolicy({ priority: 'background' });
  new QueryObserver(rig.client, thing(rig, 1, rare)).subscribe(() => {});
  await rig.time.advance(4000);
  expect(rig.server.times('/things/1')).toEqual([0]);
  new QueryObserver(rig.client, thing(rig, 2)).subscribe(() => {});
  await rig.time.advance(0);
  expect(rig.server.times('/things/2')).toEqual([0, 4000]);
});

test('priority overrides: in the background on request, and in the foreground', async () => {
  const rig = createRig({ health: {} });
  rig.client.setQueryData(['thing', 2], 'shown');
  await takeDown(rig);
  const rare = rig.steady.queryPolicy({ priority: 'background' });
  new QueryObserver(rig.client, thing(rig, 1, rare)).subscribe(() => {});
  await rig.time.advance(2000);
  expect(rig.server.times('/things/1')).toEqual([0]);
  const urgent = rig.steady.queryPolicy({ priority: 'user-blocking' });
  new QueryObserver(rig.client, thing(rig, 2, urgent)).subscribe(() => {});
  await rig.time.advance(0);
  expect(rig.server.times('/things/2')).toEqual([0, 2000]);
});

test('a mutation that a user has pressed is foreground, whatever they look at', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/save', 503, 503);
  for (let count = 0; count < 2; count++)
    await rig.steady.fetch(`${api}/save`, { method: 'PUT' }).catch(() => {});
  focusManager.setFocused(false);
  const mutationFn = () => rig.steady.json(`${api}/save`, { method: 'PUT' });
  void rig.client.getMutationCache().build(rig.client, { mutationFn }).execute(undefined);
  await rig.time.advance(1200);
  expect(rig.server.times('/save')).toEqual([0, 0, 1200]);
});
