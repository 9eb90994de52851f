import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ClearMark } from '../../src/outbox/clear.ts';
import { createBrowser, settle, shop } from './rig.ts';

/** The Cache API, as far as it keeps names. */
function createCaches(): Pick<CacheStorage, 'keys' | 'open' | 'delete'> {
  const kept = new Set<string>();
  return {
    keys: async () => [...kept],
    open: async (name) => kept.add(name) as unknown as Cache,
    delete: async (name) => kept.delete(name),
  };
}

const giveCaches = (value: Partial<CacheStorage> | undefined): void =>
  void Object.defineProperty(globalThis, 'caches', { value, configurable: true });

beforeEach(() => giveCaches(createCaches()));

/** Its next opening of a database fails so often. */
function failToOpen(times: number): void {
  const { open } = IDBFactory.prototype;
  let left = times;
  IDBFactory.prototype.open = function (...given) {
    left -= 1;
    if (left < 0) {
      IDBFactory.prototype.open = open;
      return open.apply(this, given);
    }
    throw new DOMException('The disk is broken.', 'UnknownError');
  };
}

/** A browser whose earlier page has left an entry on the disk. */
async function afterPage() {
  const browser = createBrowser();
  const page = browser.openTab({ handlers: shop });
  await page.outbox.submit('order', 'ada').saved;
  page.crash();
  await settle();
  const sent = browser.server.arrivals.length;
  return {
    ...browser,
    sentSince: () => browser.server.arrivals.slice(sent).map((one) => one.body),
  };
}

describe('after clear() was called, nothing of before is sent', () => {
  test('when the database could not be opened at first: it is opened once more, and cleared', async () => {
    const { openTab, rows, sentSince, pass } = await afterPage();
    failToOpen(1);
    const { outbox } = openTab({ handlers: shop });
    await outbox.clear();
    expect(await rows()).toEqual([]);
    await pass(120_000);
    expect(sentSince()).toEqual([]);
    expect(await caches.keys()).toEqual([]);
  });

  test('when it cannot be opened: clear() rejects, and the next page clears before it sends', async () => {
    const { openTab, rows, sentSince, pass, server } = await afterPage();
    failToOpen(2);
    const ada = openTab({ handlers: shop });
    await expect(ada.outbox.clear()).rejects.toThrow(
      'outbox.clear: the entries could not be removed from IndexedDB. They are not sent: this browser ' +
        'remembers that they were cleared, and removes them once its database works. Call clear() again to do it now.',
    );
    expect(await rows()).toHaveLength(1);
    ada.crash();
    const eve = openTab({ handlers: shop });
    await eve.outbox.submit('order', 'eve').saved;
    await settle();
    expect(await rows()).toMatchObject([{ variables: 'eve' }]);
    server.arrivals.at(-1)?.answer(201);
    await pass(120_000);
    expect(sentSince()).toEqual(['"eve"']);
    expect(await caches.keys()).toEqual([]);
  });

  test('when it cannot be written: what is submitted afterwards goes, and is not cleared later', async () => {
    const { openTab, rows, sentSince, pass } = await afterPage();
    const { outbox, fail } = openTab({ handlers: shop });
    await settle();
    fail('write');
    await expect(outbox.clear()).rejects.toThrow('could not be removed from IndexedDB');
    expect(await outbox.submit('order', 'eve').saved).toEqual({ isDurable: false });
    expect(await outbox.list()).toMatchObject([{ variables: 'eve', isDurable: false }]);
    fail('none');
    await pass(4000);
    expect(await rows()).toMatchObject([{ state: 'sending', variables: 'eve' }].slice(1));
    expect(await outbox.list()).toMatchObject([{ variables: 'eve' }]);
    // The first was sent before, and broken off.
    expect(sentSince()).toEqual(['"ada"', '"eve"']);
  });

  test('by another tab, and by none while the database does not work', async () => {
    const { openTab, rows, sentSince, pass, server } = await afterPage();
    const other = openTab({ handlers: shop });
    await settle();
    server.arrivals.at(-1)?.answer(503);
    await settle();
    failToOpen(2);
    const { outbox } = openTab({ handlers: shop });
    await expect(outbox.clear()).rejects.toThrow('could not be removed');
    await pass(120_000);
    // The first was sent before.
    expect(sentSince()).toEqual(['"ada"']);
    expect(await rows()).toEqual([]);
    expect(await other.outbox.list()).toEqual([]);
  });

  test('and what is submitted while another tab clears was not done: both promises say so', async () => {
    const { openTab, post, server, pass } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    await settle();
    post({ version: 1, kind: 'cleared', token: 'of another tab' });
    const { saved, delivered } = outbox.submit('order', 'ada');
    const errors = Promise.all(
      [saved, delivered].map((end) => end.catch((error: unknown) => error)),
    );
    await pass(2000);
    for (const error of await errors) {
      expect(error).toMatchObject({
        message: `This 'order' was discarded from the outbox before it was sent.`,
        outcome: { kind: 'aborted', processed: 'no' },
      });
    }
    expect(server.arrivals).toEqual([]);
  });

  test('when the outbox is disposed of at once', async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const { openTab, rows, sentSince, pass } = await afterPage();
      const ada = openTab({ handlers: shop });
      for (let left = turns; left > 0; left -= 1)
        await new Promise((done) => void setImmediate(done));
      const cleared = ada.outbox.clear();
      const sent = sentSince().length;
      ada.outbox.dispose();
      const eve = openTab({ handlers: shop });
      await cleared;
      await settle();
      expect(await rows()).toEqual([]);
      await pass(2000);
      expect(sentSince()).toHaveLength(sent);
      expect(await eve.outbox.list()).toEqual([]);
    }
  });

  test('where the Cache API does not work either, clear() says what that means', async () => {
    giveCaches(undefined);
    const { openTab } = await afterPage();
    failToOpen(2);
    const { outbox } = openTab({ handlers: shop });
    await expect(outbox.clear()).rejects.toThrow(
      'The Cache API does not work either, so the next page would send them.',
    );
  });
});

const { open: openWell } = IDBFactory.prototype;
function heal(): void {
  IDBFactory.prototype.open = openWell;
  vi.restoreAllMocks();
}
afterEach(heal);

/** Every opening of a database hangs. */
function hangOpening(): void {
  IDBFactory.prototype.open = () => new IDBOpenDBRequest();
}

/** Nothing can be removed from a database. */
function breakClearing(): void {
  vi.spyOn(IDBObjectStore.prototype, 'clear').mockImplementation(() => {
    throw new DOMException('The disk is broken.', 'UnknownError');
  });
}

/** Nothing that is asked of a database is ever answered. */
function hangRequests(): void {
  const silent = (): never => ({ addEventListener() {} }) as never;
  for (const name of ['get', 'getAll', 'put', 'add', 'delete', 'clear', 'count'] as const)
    vi.spyOn(IDBObjectStore.prototype, name).mockImplementation(silent);
  for (const name of ['getAll', 'getAllKeys', 'count', 'openKeyCursor', 'openCursor'] as const)
    vi.spyOn(IDBIndex.prototype, name).mockImplementation(silent);
}

/** What has become of a promise: undefined as long as it is open. */
function watch(promise: Promise<unknown>): { end: unknown } {
  const seen: { end: unknown } = { end: undefined };
  promise.then(
    () => (seen.end = 'resolved'),
    (error: unknown) => (seen.end = (error as Error).message),
  );
  return seen;
}

describe('clear() does not resolve as long as entries are on the disk', () => {
  const notCleared = expect.stringContaining('could not be removed from IndexedDB');

  test('while the database hangs as it is opened again', async () => {
    const { openTab, rows, sentSince, pass } = await afterPage();
    hangOpening();
    const ada = openTab({ handlers: shop });
    await pass(7000);
    const cleared = watch(ada.outbox.clear());
    await pass(12_000);
    expect(cleared.end).toEqual(notCleared);
    ada.crash();
    heal();
    expect(await rows()).toHaveLength(1);
    openTab({ handlers: shop });
    await pass(120_000);
    expect(sentSince()).toEqual([]);
    expect(await rows()).toEqual([]);
  });

  test('when it is called again within a second of one that failed', async () => {
    const { openTab, rows, sentSince, pass } = await afterPage();
    const { outbox } = openTab({ handlers: shop });
    await settle();
    breakClearing();
    const first = watch(outbox.clear());
    await settle();
    const second = watch(outbox.clear());
    await settle();
    expect([first.end, second.end]).toEqual([notCleared, notCleared]);
    expect(await rows()).toHaveLength(1);
    heal();
    await outbox.clear();
    expect(await rows()).toEqual([]);
    await pass(120_000);
    expect(sentSince()).toEqual(['"ada"']);
  });

  test('when it is called twice at once, or in two tabs', async () => {
    const { openTab, rows, sentSince, pass } = await afterPage();
    const [one, other] = [openTab({ handlers: shop }), openTab({ handlers: shop })] as const;
    await settle();
    breakClearing();
    const ends = [one, one, other].map(({ outbox }) => watch(outbox.clear()));
    await settle();
    expect(ends.map(({ end }) => end)).toEqual([notCleared, notCleared, notCleared]);
    expect(await rows()).toHaveLength(1);
    heal();
    await pass(120_000);
    expect(sentSince()).toEqual(['"ada"']);
    expect(await rows()).toEqual([]);
  });

  test('when nothing that is asked of the database ever ends: whoever waits is told', async () => {
    const { openTab, rows, sentSince, pass } = await afterPage();
    const ada = openTab({ handlers: shop });
    await settle();
    hangRequests();
    const stuck = ada.outbox.submit('order', 'stuck');
    const ends = [stuck.saved, stuck.delivered, ada.outbox.clear()].map(watch);
    const later = ada.outbox.submit('order', 'later');
    const saved = watch(later.saved);
    await pass(100_000, 1000);
    expect(ends.map(({ end }) => end)).toEqual([
      expect.stringContaining('was discarded'),
      expect.stringContaining('was discarded'),
      notCleared,
    ]);
    expect(saved.end).toBe('resolved');
    ada.crash();
    heal();
    expect(await rows()).toMatchObject([{ variables: 'ada' }]);
    openTab({ handlers: shop });
    await pass(120_000);
    expect(await rows()).toEqual([]);
    expect(sentSince()).not.toContain('"stuck"');
  });

  test('and an entry of this page alone cannot be retried while the database hangs', async () => {
    const { openTab, server, pass } = createBrowser();
    hangOpening();
    const { outbox } = openTab({ handlers: shop });
    const { idempotencyKey, delivered } = outbox.submit('order', 'ada');
    const end = watch(delivered);
    await pass(5100);
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '60' });
    await pass(2000);
    const cleared = watch(outbox.clear());
    await settle();
    expect(end.end).toContain('was discarded');
    await expect(outbox.retry(idempotencyKey)).rejects.toThrow('cannot use IndexedDB');
    await pass(120_000);
    heal();
    expect(cleared.end).toEqual(notCleared);
    expect(server.arrivals).toHaveLength(1);
  });

  test('also where it takes several seconds, and the database opens meanwhile', async () => {
    const { openTab, rows, sentSince, pass } = await afterPage();
    hangOpening();
    const { outbox } = openTab({ handlers: shop });
    await pass(7000);
    const cleared = watch(outbox.clear());
    heal();
    await pass(12_000);
    expect(cleared.end).toBe('resolved');
    expect(await rows()).toEqual([]);
    await pass(60_000);
    expect(sentSince()).toEqual([]);
  });
});

describe('a service worker, or the next page, after a clear() that failed', () => {
  /** A page has called clear() while its database did not work, and is gone. */
  async function afterFailedClear(caches: Partial<CacheStorage>) {
    const browser = await afterPage();
    giveCaches(caches);
    failToOpen(2);
    const page = browser.openTab({ handlers: shop });
    await expect(page.outbox.clear()).rejects.toThrow('could not be removed from IndexedDB');
    page.crash();
    return browser;
  }

  test('sends nothing of before, and removes it; what came later stays', async () => {
    const { openTab, rows, sentSince, pass } = await afterFailedClear(createCaches());
    const worker = openTab({ handlers: shop });
    await pass(2000);
    expect(sentSince()).toEqual([]);
    expect(await rows()).toEqual([]);
    worker.crash();
    const eve = openTab({ handlers: shop });
    await eve.outbox.submit('order', 'eve').saved;
    await settle();
    expect(await rows()).toMatchObject([{ variables: 'eve' }]);
    expect(await caches.keys()).toEqual([]);
  });

  test('sends nothing where it cannot look for the mark of a clear', async () => {
    const keys = () => Promise.reject(new DOMException('The disk is broken.', 'UnknownError'));
    const { openTab, rows, sentSince, pass } = await afterFailedClear({ keys });
    openTab({ handlers: shop });
    await pass(120_000);
    expect(sentSince()).toEqual([]);
    expect(await rows()).toHaveLength(1);
  });

  test('that hears of a clear removes what is there before it looks for anything to send', async () => {
    const { openTab, rows, sentSince, pass, server, post } = await afterPage();
    const worker = openTab({ handlers: shop });
    await settle();
    server.arrivals.at(-1)?.answer(503);
    await settle();
    post({ version: 1, kind: 'cleared', token: 'of a page' });
    await pass(400_000);
    expect(sentSince()).toEqual(['"ada"']);
    expect(await rows()).toEqual([]);
    expect(await worker.outbox.list()).toEqual([]);
  });

  test('looks for the mark of its own database alone', async () => {
    const names = createCaches();
    giveCaches(names);
    await names.open('steadfetch outbox cleared steadfetch-outbox other\n0');
    const mark = new ClearMark('steadfetch-outbox');
    expect(await mark.read()).toBeUndefined();
    expect(await new ClearMark('steadfetch-outbox other').read()).toBe('0');
  });

  test('sends what is there where the browser forbids caches: no mark was ever set', async () => {
    const forbidden = () => Promise.reject(new DOMException('denied', 'SecurityError'));
    const { openTab, sentSince } = await afterPage();
    giveCaches({ keys: forbidden, open: forbidden });
    openTab({ handlers: shop });
    await settle();
    expect(sentSince()).toEqual(['"ada"']);
  });

  test('finds one mark, that of the last clear', async () => {
    giveCaches(createCaches());
    const mark = new ClearMark('one');
    const first = mark.set();
    await mark.isKept();
    await settle();
    const second = mark.set();
    await settle();
    expect(await caches.keys()).toEqual([`steadfetch outbox cleared one\n${second}`]);
    mark.remove(first);
    await settle();
    expect(await caches.keys()).toHaveLength(1);
    mark.remove(second);
    await settle();
    expect(await caches.keys()).toEqual([]);
  });
});

describe('what is on its way to the disk when its outbox is disposed of', () => {
  test('gets there, whoever waits is told so, and another tab sends it at once', async () => {
    for (let turns = 0; turns < 12; turns += 1) {
      const { openTab, server, pass } = createBrowser();
      const other = openTab({ handlers: shop });
      const first = openTab({ handlers: shop });
      await settle();
      const { saved, delivered } = first.outbox.submit('order', 1);
      const end = delivered.catch((error: unknown) => (error as Error).message);
      for (let left = turns; left > 0; left -= 1)
        await new Promise((done) => void setImmediate(done));
      first.outbox.dispose();
      expect(await saved).toEqual({ isDurable: true });
      expect(await end).toBe(
        `The outbox was disposed of before this 'order' was known to be delivered. It is kept, and sent by another tab or the next page.`,
      );
      await pass(200);
      expect(server.arrivals.at(-1)?.tab).toBe(1);
      expect(await other.outbox.list()).toMatchObject([{ variables: 1, state: 'sending' }]);
      expect(first.locks()).toBe(0);
    }
  });

  test('is not sent from here any more, however many there are', async () => {
    const { openTab, server, pass } = createBrowser();
    const { outbox } = openTab({ handlers: shop });
    await settle();
    const all = [1, 2, 3, 4, 5, 6].map((sku) => outbox.submit('order', sku).saved);
    outbox.dispose();
    expect(await Promise.all(all)).toEqual(all.map(() => ({ isDurable: true })));
    await pass(60_000);
    expect(server.arrivals).toEqual([]);
  });

  test('and cannot get there was in this page alone, and that is what is said', async () => {
    const { openTab, server, pass } = createBrowser();
    const { outbox, fail } = openTab({ handlers: shop });
    await settle();
    fail('quota');
    const { saved, delivered } = outbox.submit('order', 1);
    outbox.dispose();
    const said = 'It was in this page alone, and is sent no more.';
    await expect(saved).rejects.toThrow(said);
    await expect(delivered).rejects.toThrow(said);
    await pass(60_000);
    expect(server.arrivals).toEqual([]);
  });
});
