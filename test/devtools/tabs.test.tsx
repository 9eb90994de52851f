import { act } from '@testing-library/react';
import { SteadfetchDevtools } from 'steadfetch/devtools';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRig } from '../core/react-query/rig.tsx';
import { devtools, openTab } from './rig.tsx';

/** The lines between tabs: what is posted on one, all others of its name receive at once. */
const lines = new Map<string, Set<Line>>();
class Line extends EventTarget {
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
    lines.set(name, (lines.get(name) ?? new Set()).add(this));
  }
  postMessage(data: unknown): void {
    this.say(data);
  }
  say(data: unknown): void {
    for (const line of lines.get(this.name) ?? [])
      if (line !== this) line.dispatchEvent(Object.assign(new Event('message'), { data }));
  }
  close(): void {
    lines.get(this.name)?.delete(this);
  }
}

beforeEach(() => {
  lines.clear();
  vi.stubGlobal('BroadcastChannel', Line);
});
afterEach(() => void vi.unstubAllGlobals());

const rows = (): string[] =>
  devtools()
    .getAllByRole('row')
    .slice(1)
    .map(({ textContent }) => textContent);

test('the other tabs are shown as they tell of themselves, and what has fallen silent as frozen', async () => {
  const rig = createRig();
  rig.show(<SteadfetchDevtools />);
  openTab('Tabs');
  expect(rows()).toEqual([expect.stringMatching(/^This tab \/Visiblenothingnow$/)]);
  const other = new Line('steadfetch-devtools');
  let answers = true;
  const tab = { id: 'other', title: 'Checkout', path: '/checkout', probes: ['GET /orders'] };
  other.addEventListener('message', (event) => {
    const { kind } = (event as MessageEvent<{ kind: string }>).data;
    if (kind === 'ask' && answers) other.say({ kind: 'here', tab: { ...tab, life: 'hidden' } });
  });
  await rig.time.advance(3000);
  expect(rows()[1]).toBe('Checkout /checkoutHiddenGET /orders0 s ago');
  answers = false;
  await rig.time.advance(9000);
  expect(rows()[1]).toMatch(/^Checkout \/checkoutFrozen or gone/);
  await rig.time.advance(60_000);
  expect(rows()).toHaveLength(1);
});

test('it answers other tabs also while it is closed', async () => {
  const rig = createRig();
  rig.show(<SteadfetchDevtools />);
  const other = new Line('steadfetch-devtools');
  const told = vi.fn<(data: unknown) => void>();
  other.addEventListener('message', (event) => told((event as MessageEvent<unknown>).data));
  other.say({ kind: 'ask' });
  expect(told).toHaveBeenCalledWith({
    kind: 'here',
    tab: expect.objectContaining({ life: 'visible', probes: [] }),
  });
});

test('what tabs tell each other is told in words', async () => {
  const rig = createRig();
  rig.show(<SteadfetchDevtools />);
  openTab('Tabs');
  const other = new Line('steadfetch');
  const say = (word: object): void =>
    act(() => other.say({ version: 2, from: 0.1, key: 'https://api.example ', ...word }));
  say({ kind: 'down', scope: 'GET /orders', isProbed: true });
  say({ kind: 'up', scope: '' });
  say({ kind: 'limit', scope: 'GET /orders', forMs: 3000, remaining: 0 });
  await rig.time.settle();
  const told = devtools().getAllByRole('listitem');
  expect(told.map(({ lastChild }) => lastChild?.textContent)).toEqual([
    'GET /orders takes 0 more requests within 3 s',
    'https://api.example is up again',
    'GET /orders is down, and probed by the tab that says so',
  ]);
});

test('a message about the pace says that a request was refused, and none about a request that was sent', async () => {
  const rig = createRig();
  rig.show(<SteadfetchDevtools />);
  openTab('Tabs');
  const other = new Line('steadfetch');
  const say = (word: object): void =>
    act(() => other.say({ version: 2, from: 0.1, key: 'https://api.example ', ...word }));
  say({ kind: 'pace', scope: 'GET /orders', gapMs: 100, pauseMs: 500, isFound: true });
  say({ kind: 'pace', scope: 'GET /orders', gapMs: 100, pauseMs: 0, isFound: true });
  say({ kind: 'of-another-version', scope: 'GET /orders' });
  await rig.time.settle();
  const told = devtools().getAllByRole('listitem');
  expect(told.map(({ lastChild }) => lastChild?.textContent)).toEqual([
    'GET /orders has refused a request, and is paused for 0.5 s',
  ]);
});
