import { createSteadfetch } from 'steadfetch';
import type { OutboxEntry } from 'steadfetch/outbox';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { itemsOf } from '../../demo/src/outbox/items.ts';
import { createBrowserState, createTabState } from '../../demo/src/orders/tab-state.ts';
import { noteDelivered, openDeliveredLog } from '../../demo/src/reports/delivered-log.ts';
import { setPlugged } from '../../demo/src/reports/plug.ts';
import { readReport } from '../../demo/src/reports/read-report.ts';
import { type FlightReport, toForm } from '../../demo/src/reports/report.ts';
import { sendReport } from '../../demo/src/reports/send-report.ts';

const report = (id: string, writtenAt = 0): FlightReport => ({
  id,
  kite: 'heron',
  place: 'Pier',
  words: 'A steady pull.',
  photo: undefined,
  writtenAt,
});

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

describe('the list', () => {
  const entry = (id: string, writtenAt: number) =>
    ({
      idempotencyKey: `key-${id}`,
      variables: report(id, writtenAt),
    }) as OutboxEntry<FlightReport>;
  const list = (...[entries, delivered]: Parameters<typeof itemsOf>): string[] =>
    itemsOf(entries, delivered).map(({ id, entry: one }) => `${id} ${one?.idempotencyKey ?? '-'}`);

  test('has the newest first, wherever it is', () => {
    expect(list([entry('a', 1), entry('c', 3)], [report('b', 2)])).toEqual([
      'c key-c',
      'b -',
      'a key-a',
    ]);
  });

  test('has one that is delivered once, also while the outbox still has it', () => {
    expect(list([entry('a', 1)], [report('a', 1)])).toEqual(['a -']);
  });

  test('has the later of two first that were written at the same time', () => {
    expect(list([entry('a', 1), entry('b', 1)], [])).toEqual(['b key-b', 'a key-a']);
  });
});

test('of what was delivered, the last five are remembered, each once and without its photo', () => {
  const log = openDeliveredLog();
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'd']) {
    noteDelivered(log, { ...report(id), photo: new File(['x'], 'x.png') });
  }
  const kept = openDeliveredLog().getState();
  expect(kept.map(({ id }) => id)).toEqual(['b', 'c', 'e', 'f', 'd']);
  expect(Object.keys(kept[0] ?? {})).toEqual(['id', 'kite', 'place', 'words', 'writtenAt']);
});

describe('the shop', () => {
  test('reads what a form has sent, and how large its photo is', () => {
    const photo = new File(['12345'], 'heron.png');
    const read = { id: 'a', kite: 'heron', place: 'Pier', words: 'A steady pull.' };
    expect(readReport(toForm(report('a')), false)).toEqual({ ...read, photoBytes: 0 });
    expect(readReport(toForm({ ...report('a'), photo }), false)).toEqual({
      ...read,
      photoBytes: 5,
    });
  });

  test.each([
    ['A steady pull.', false],
    ['A steady pull at 4 Bft.', true],
    ['4bft', true],
    ['Four Bft', false],
    ['4 Bfts', false],
  ])('when it is strict, takes "%s": %s', (words, isTaken) => {
    const read = readReport(toForm({ ...report('a'), words }), true);
    expect(!('refusal' in read)).toBe(isTaken);
  });
});

describe('a report that is sent', () => {
  const send = (answer: Response): Promise<unknown> => {
    const { json, dispose } = createSteadfetch({ fetch: async () => answer });
    onTestFinished(dispose);
    return sendReport(report('a'), { json }, 1);
  };

  test('resolves with its number', async () => {
    expect(await send(Response.json({ number: 3 }))).toEqual({ number: 3 });
  });

  test('is refused in the words of the shop', async () => {
    const refused = send(Response.json({ title: 'Say more.' }, { status: 422 }));
    await expect(refused).rejects.toMatchObject({ name: 'HttpError', message: 'Say more.' });
  });

  test('fails as it did where the shop says nothing', async () => {
    const failed = send(new Response('', { status: 503 }));
    await expect(failed).rejects.toMatchObject({ name: 'HttpError', status: 503 });
  });
});

test('the plug is what the browser says, and it tells of each change once', () => {
  const told: string[] = [];
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  for (const type of ['offline', 'online']) {
    window.addEventListener(type, () => told.push(`${type} ${navigator.onLine}`), stop);
  }
  for (const isPlugged of [true, false, false, true, true]) setPlugged(isPlugged);
  expect(told).toEqual(['offline false', 'online true']);
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
