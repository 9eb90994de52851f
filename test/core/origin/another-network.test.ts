import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { setBrowserOnline } from '../react-query/network.ts';
import { createRig } from '../react-query/rig.tsx';

const [offlineAt, onlineAt] = [60_000, 65_000];

/**
 * A page is used over Wi-Fi for a minute (50 ms), has no network for 5 s, and then a mobile one
 * (400 ms). It shows thirty queries at the time that is given.
 *
 * @returns when each of them is answered.
 */
async function showThirty(shownAt: number): Promise<number[]> {
  const rig = createRig({
    health: {},
    async fetch() {
      const at = rig.elapsed();
      await new Promise((come) => setTimeout(come, at < offlineAt ? 50 : 400));
      if (at >= offlineAt && at < onlineAt) throw new TypeError('Failed to fetch');
      return Response.json(1);
    },
  });
  rig.client.mount();
  const until = (at: number): Promise<void> => rig.time.advance(at - rig.elapsed());
  for (let at = 0; at < offlineAt; at += 1500) {
    void rig.steady.fetch(`http://api.example/things/${at}`);
    await until(at + 1500);
  }
  const ends: number[] = [];
  const show = (): void => {
    for (let id = 0; id < 30; id++) {
      const queryFn = () => rig.steady.json(`http://api.example/things/${id}`);
      const observer = new QueryObserver(rig.client, { queryKey: [id], queryFn });
      observer.subscribe(({ status }) => status === 'success' && ends.push(rig.elapsed()));
    }
  };
  setBrowserOnline(false);
  await until(Math.min(shownAt, onlineAt));
  if (shownAt < onlineAt) show();
  await until(onlineAt);
  setBrowserOnline(true);
  await until(shownAt < onlineAt ? onlineAt : shownAt);
  if (shownAt >= onlineAt) show();
  await until(onlineAt + 30_000);
  return ends;
}

test('from Wi-Fi to a mobile network: thirty that are shown while offline are there 400 ms after it is back', async () => {
  expect(await showThirty(63_000)).toEqual(Array.from({ length: 30 }, () => 65_400));
});

test('so are thirty that are shown after it', async () => {
  expect(await showThirty(65_500)).toEqual(Array.from({ length: 30 }, () => 65_900));
});

/**
 * The same page loses its Wi-Fi before the browser notices: from 60 s on each request fails, from 63 s on it
 * is offline, from 95 s on it has a slow mobile network, where an answer takes 2 s. Thirty queries are shown
 * at 60 s.
 *
 * @returns how long after the first of them the last one is answered.
 */
async function loseWifi(): Promise<number> {
  const rig = createRig({
    health: {},
    async fetch() {
      const at = rig.elapsed();
      await new Promise((come) => setTimeout(come, at < 95_000 ? 50 : 2000));
      if (at >= 60_000 && at < 95_000) throw new TypeError('Failed to fetch');
      return Response.json(1);
    },
  });
  rig.client.mount();
  for (let at = 0; at < 60_000; at += 1500) {
    void rig.steady.fetch(`http://api.example/things/${at}`);
    await rig.time.advance(1500);
  }
  const ends: number[] = [];
  for (let id = 0; id < 30; id++) {
    const queryFn = () => rig.steady.json(`http://api.example/things-${'abc'[id % 3]}/${id}`);
    const observer = new QueryObserver(rig.client, { queryKey: [id], queryFn });
    observer.subscribe(({ status }) => status === 'success' && ends.push(rig.elapsed()));
  }
  await rig.time.advance(3000);
  setBrowserOnline(false);
  await rig.time.advance(32_000);
  setBrowserOnline(true);
  await rig.time.advance(120_000);
  expect(ends).toHaveLength(30);
  return Math.max(...ends) - Math.min(...ends);
}

test('thirty that wait for a lost Wi-Fi are all answered within 3 s over a slow mobile network: it is no server in need', async () => {
  expect(await loseWifi()).toBe(2996);
});
