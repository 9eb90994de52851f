import { onlineManager } from '@tanstack/react-query';
import { afterEach, expect, test } from 'vitest';
import { followHash } from '../../demo/src/outbox/follow-hash.ts';
import { setPlugged } from '../../demo/src/reports/plug.ts';
import type { ReportTrouble } from '../../demo/src/reports/report-troubles.ts';

afterEach(() => {
  location.hash = '';
  setPlugged(true);
  onlineManager.setOnline(true);
});

const hashChange = (): Promise<unknown> =>
  new Promise((told) => window.addEventListener('hashchange', told, { once: true }));

/** A desk that notes what it is to play, and pulls the plug as the real one does. */
function openDesk(): { played: string[]; play: (trouble: ReportTrouble) => void } {
  const played: string[] = [];
  const play = ({ id }: ReportTrouble): void => {
    played.push(id);
    setPlugged(id !== 'offline');
  };
  return { played, play };
}

test('what goes wrong is what the hash says, and nothing on other pages', async () => {
  const desk = openDesk();
  location.hash = '#outbox/down';
  await followHash(desk);
  for (const hash of ['#outbox/nothing', '#checkout/lost', '#outbox/refused', '#404']) {
    location.hash = hash;
    await hashChange();
  }
  expect(desk.played).toEqual(['down', 'offline', 'fine', 'refused', 'fine']);
});

test('a page that begins offline goes on once that is known', async () => {
  const desk = openDesk();
  location.hash = '#outbox/offline';
  const known: string[] = [];
  const follow = async (): Promise<void> => {
    await followHash(desk);
    known.push('offline');
  };
  const followed = follow();
  await hashChange();
  expect(known).toEqual([]);
  onlineManager.setOnline(false);
  await followed;
  expect(known).toEqual(['offline']);
});
