import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createBoard, describeBoard, isDown, outageMs } from '../../demo/src/tabs/board.ts';

beforeEach(() => {
  localStorage.clear();
  vi.useFakeTimers({ now: 1000, toFake: ['Date'] });
  return () => vi.useRealTimers();
});

const prefix = 'steadfetch.tabs.';

/** What another tab of this browser does. */
function elsewhere(key: string, value: unknown): void {
  localStorage.setItem(`${prefix}${key}`, JSON.stringify(value));
  const { localStorage: storageArea } = window;
  window.dispatchEvent(new StorageEvent('storage', { storageArea, key: `${prefix}${key}` }));
}

describe('the board', () => {
  test('has the tabs in the order in which they were opened, until they are left', () => {
    const board = createBoard(localStorage, 5);
    elsewhere('tab.later', { id: 'later', openedAt: 6, run: 0, requests: [] });
    elsewhere('tab.earlier', { id: 'earlier', openedAt: 4, run: 0, requests: [] });
    expect(board.getState().tabs.map(({ id }) => id)).toEqual(['earlier', board.own, 'later']);
    window.dispatchEvent(new Event('pagehide'));
    expect(Object.keys(localStorage).toSorted()).toEqual([
      `${prefix}tab.earlier`,
      `${prefix}tab.later`,
    ]);
  });

  test('begins a run with the tabs that answer: one that crashed does not', () => {
    const board = createBoard(localStorage, 5);
    elsewhere('tab.crashed', { id: 'crashed', openedAt: 4, run: 0, requests: [] });
    board.note('request', 900);
    board.begin(false);
    expect(board.getState()).toEqual({
      run: { number: 1, startedAt: 1000, isShared: false },
      tabs: [{ id: board.own, openedAt: 5, run: 1, requests: [] }],
    });
  });

  test('joins the run that another tab begins', () => {
    const board = createBoard(localStorage, 5);
    const seen: number[] = [];
    board.subscribe(() => seen.push(board.getState().run.number));
    localStorage.removeItem(`${prefix}tab.${board.own}`);
    elsewhere('run', { number: 3, startedAt: 2000, isShared: true });
    expect(seen).toEqual([3]);
    // The boards of the tests before are of this window, too.
    expect(board.getState().tabs).toContainEqual({
      id: board.own,
      openedAt: 5,
      run: 3,
      requests: [],
    });
  });

  test('notes each request, and the first answer', () => {
    const board = createBoard(localStorage, 5);
    board.note('request', 1100);
    board.note('request', 1200);
    board.note('answer', 1300);
    board.note('answer', 1400);
    expect(board.getState().tabs).toEqual([
      { id: board.own, openedAt: 5, run: 0, requests: [1100, 1200], answeredAt: 1300 },
    ]);
  });
});

test('the server is down from the start of a run on, for as long as is said', () => {
  const run = { number: 1, startedAt: 1000, isShared: true };
  expect([1000, 1000 + outageMs - 1, 1000 + outageMs].map((at) => isDown(run, at))).toEqual([
    true,
    true,
    false,
  ]);
});

test('what a run comes to: requests while the server was down, and who has an answer', () => {
  const run = { number: 1, startedAt: 0, isShared: true };
  const tab = { openedAt: 0, run: 1 };
  const a = { ...tab, id: 'a', requests: [10, 1000, 13_000], answeredAt: 13_400 };
  const b = { ...tab, id: 'b', requests: [20], answeredAt: undefined as never };
  expect(describeBoard({ run: { ...run, number: 0 }, tabs: [b] })).toEqual({
    text: '1 tab',
    detail: 'Nothing has been sent yet.',
  });
  expect(describeBoard({ run, tabs: [b] })).toEqual({
    text: '1 tab, 1 request while the server was down',
    detail: 'None has its answer yet.',
  });
  expect(describeBoard({ run, tabs: [a, b] })).toEqual({
    text: '2 tabs, 3 requests while the server was down',
    detail: '1 of 2 have their answer.',
  });
  expect(describeBoard({ run, tabs: [a, { ...b, answeredAt: 14_000 }] }).detail).toBe(
    'All 2 have their answer, 2 s after the server was back.',
  );
  expect(describeBoard({ run, tabs: [a] }).detail).toBe(
    'It has its answer, 1.4 s after the server was back.',
  );
});
