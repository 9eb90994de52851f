import { expect, test } from 'vitest';
import { systemClock } from '../../src/policy/clock.ts';
import { createBrowser } from '../origin/tabs.ts';
import { expectPicture } from './expect-picture.ts';
import { createStage, laneOf, type Tab } from './stage.ts';

test('the timeline of three tabs is that of the code', async () => {
  const stage = createStage();
  const browser = createBrowser(systemClock);
  const openTab = () => stage.openTab({ origin: { share: browser.openPorts() } });
  const [one, two, three] = [openTab(), openTab(), openTab()];
  stage.server.plan('/A', 503, 503, 503);
  await stage.play(22_000, [
    [0, () => two.ask('start')],
    [0, () => three.ask('start')],
    [1000, () => one.ask('A')],
    [3000, () => two.ask('B')],
    [5000, () => three.ask('C')],
    [10_000, () => one.ask('D')],
  ]);
  expect(one.story()).toEqual([
    '1000 A sending',
    '1000 A 503',
    '1000 A waiting',
    '1500 A sending',
    '1500 origin down',
    '1500 A 503',
    '1500 A waiting',
    '2500 A held: server-down',
    '7000 A sending',
    '7000 A canary: 503',
    '7000 A waiting',
    '9000 A held: server-down',
    '10000 D sending',
    '10000 origin up',
    '10000 D 200',
    '10000 A sending',
    '10000 A 200',
    '10000 D succeeded',
    '10000 A succeeded',
  ]);
  expect(two.story().slice(3)).toEqual([
    '1501 origin down',
    '3000 B held: server-down',
    '11001 origin recovering',
    '11001 B held: queued',
    '17668 origin up',
    '17668 B sending',
    '17668 B 200',
    '17668 B succeeded',
  ]);
  expect(three.story().slice(3)).toEqual([
    '1501 origin down',
    '5000 C held: server-down',
    '11001 origin recovering',
    '11001 C held: queued',
    '17668 origin up',
    '17668 C sending',
    '17668 C 200',
    '17668 C succeeded',
  ]);
  const row = (tab: Tab, name: string, about: string) => ({
    ...laneOf(tab, name),
    name: about,
    about: `asks ${name}`,
  });
  expectPicture('across-tabs', {
    title: 'Three tabs of one browser send one canary at a time',
    endMs: 22_000,
    tickMs: 5000,
    rows: [
      row(one, 'A', 'tab 1'),
      row(one, 'D', 'tab 1'),
      row(two, 'B', 'tab 2'),
      row(three, 'C', 'tab 3'),
    ],
  });
});
