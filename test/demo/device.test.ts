import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createBrowserState, createTabState } from '../../demo/src/api/kept-state.ts';
import { isPlugged, setPlugged } from '../../demo/src/api/plug.ts';

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

test('the plug is what the browser says, and it tells of each change once', () => {
  const told: string[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  for (const type of ['offline', 'online']) {
    window.addEventListener(type, () => told.push(`${type} ${navigator.onLine}`), stop);
  }
  for (const plugged of [true, false, false, true, true]) setPlugged(plugged);
  expect(told).toEqual(['offline false', 'online true']);
  expect(isPlugged()).toBe(true);
});

describe('what is kept over a reload', () => {
  test('for all tabs: what another has written is shown, and added to', () => {
    const state = createBrowserState('list', ['a']);
    const seen: (readonly string[])[] = [];
    state.subscribe(() => seen.push(state.getState()));
    const write = (storageArea: Storage, key: string): void => {
      storageArea.setItem(key, '["a","b"]');
      window.dispatchEvent(new StorageEvent('storage', { storageArea, key }));
    };
    write(localStorage, 'another list');
    write(sessionStorage, 'list');
    expect(seen).toEqual([]);
    write(localStorage, 'list');
    expect(seen).toEqual([['a', 'b']]);
    localStorage.setItem('list', '["a","b","c"]');
    state.update((list) => [...list, 'd']);
    expect(createBrowserState('list', []).getState()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('for one tab: it is not in the storage of all', () => {
    createTabState('list', ['a']).update((list) => [...list, 'b']);
    expect(createTabState('list', []).getState()).toEqual(['a', 'b']);
    expect(localStorage.length).toBe(0);
  });
});
