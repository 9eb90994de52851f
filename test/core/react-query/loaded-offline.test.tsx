import { QueryObserver } from '@tanstack/react-query';
import type { SteadfetchConfig } from 'steadfetch';
import { useOriginStatus } from 'steadfetch/react';
import { expect, test } from 'vitest';
import { watchQuery } from '../react/watch.tsx';
import { setBrowserOnline } from './network.ts';
import { createRig, type Rig } from './rig.tsx';

const api = 'http://api.example';
const inVain = Array.from({ length: 100 }, () => 'network' as const);

/** A page that was loaded while the browser said offline, without an event, and shows a query. */
function load(
  paths: readonly string[],
  answers: readonly (number | 'network')[] = inVain,
  config: SteadfetchConfig = { health: {} },
): Rig {
  setBrowserOnline(false, false);
  const rig = createRig(config);
  rig.client.mount();
  for (const path of paths) {
    rig.server.plan(path, ...answers);
    const queryFn = () => rig.steady.json<string>(api + path);
    new QueryObserver(rig.client, { queryKey: [path], queryFn }).subscribe(() => {});
  }
  return rig;
}

function watchOrigin(rig: Rig): string[] {
  const statuses: string[] = [];
  function Origin() {
    statuses.push(useOriginStatus().status);
    return null;
  }
  rig.show(<Origin />);
  return statuses;
}

test('a page that is loaded offline shows offline after one request, and its server is not down', async () => {
  const rig = load(['/a']);
  const statuses = watchOrigin(rig);
  const { Watcher, last } = watchQuery(rig, ['/a']);
  rig.show(<Watcher />);
  await rig.time.advance(5000);
  expect(rig.server.times()).toEqual([0]);
  expect(last()).toMatchObject({ status: 'paused', reason: 'offline' });
  await rig.time.advance(55_000);
  expect(rig.server.times()).toHaveLength(4);
  expect(new Set(statuses)).toEqual(new Set(['up']));
});

test('what is asked after that is paused, too, and all of it goes when the browser is online', async () => {
  const rig = load(['/a', '/b']);
  await rig.time.advance(3000);
  const sent = rig.server.sent.length;
  const late = new QueryObserver(rig.client, {
    queryKey: ['c'],
    queryFn: () => rig.steady.json<string>(`${api}/c`),
  });
  late.subscribe(() => {});
  await rig.time.advance(1000);
  expect(rig.server.sent).toHaveLength(sent);
  for (const path of ['/a', '/b']) rig.server.unplan(path);
  setBrowserOnline(true);
  await rig.time.advance(0);
  expect(rig.server.times()[sent]).toBe(4000);
  await rig.time.advance(1000);
  expect(
    rig.client
      .getQueryCache()
      .getAll()
      .map(({ state }) => state.status),
  ).toEqual(Array.from({ length: 3 }, () => 'success'));
});

test('where the browser lies, the first answer shows it, and a failure after it is its server’s', async () => {
  const rig = load(['/a'], [200]);
  await rig.time.advance(0);
  expect(rig.client.getQueryData(['/a'])).toMatch(/^GET/);
  rig.server.plan('/b', ...inVain);
  const queryFn = () => rig.steady.json<string>(`${api}/b`);
  new QueryObserver(rig.client, { queryKey: ['/b'], queryFn }).subscribe(() => {});
  const { Watcher, last } = watchQuery(rig, ['/b']);
  rig.show(<Watcher />);
  await rig.time.advance(1000);
  expect(last()).toMatchObject({ status: 'paused', reason: 'server-down' });
});

test('an error of its server shows it, too', async () => {
  const rig = load(['/a'], [503, 503, 503]);
  const { Watcher, last } = watchQuery(rig, ['/a']);
  rig.show(<Watcher />);
  await rig.time.advance(1000);
  expect(last()).toMatchObject({ status: 'paused', reason: 'server-down' });
});

test('where it lies and its server cannot be reached, the page has its data within 40 s of its return, untouched', async () => {
  const rig = load(['/a']);
  await rig.time.advance(100_000);
  rig.server.unplan('/a');
  await rig.time.advance(40_000);
  expect(rig.client.getQueryData(['/a'])).toMatch(/^GET/);
});

test('a user who retries is sent, whatever the browser says', async () => {
  const rig = load(['/a']);
  const { Watcher, last } = watchQuery(rig, ['/a']);
  rig.show(<Watcher />);
  await rig.time.advance(1000);
  rig.server.unplan('/a');
  last().retryNow();
  await rig.time.advance(0);
  expect(rig.client.getQueryData(['/a'])).toMatch(/^GET/);
});

test('with health: false nothing is paused for it', async () => {
  const rig = load(['/a'], inVain, { health: false });
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
});

test('what a service worker may answer is sent, and its answer proves nothing', async () => {
  const rig = load(['/a']);
  await rig.time.advance(1000);
  const shown = rig.client.fetchQuery({
    queryKey: ['cached'],
    queryFn: () => rig.steady.json<string>(`${api}/cached`),
    networkMode: 'offlineFirst',
  });
  await rig.time.advance(1000);
  expect(await shown).toMatch(/^GET/);
  expect(rig.server.times('/a')).toEqual([0]);
});
