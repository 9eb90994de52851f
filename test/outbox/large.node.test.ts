import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { indexes, isMulti } from '../../src/outbox/store/schema.ts';
import { api, createBrowser, settle } from './rig.ts';

const photo = (): File => new File(['photo'.repeat(20_000)], 'photo.jpg', { type: 'image/jpeg' });
const text = 'data:image/jpeg;base64,'.repeat(5000);

const formOf = (variables: unknown): FormData => {
  const form = new FormData();
  form.append('photo', Object(variables).photo as File);
  return form;
};

const contents: Readonly<Record<string, () => unknown>> = {
  'a file': photo,
  'a file in an object': () => ({ photo: photo() }),
  'files in a list': () => ({ list: [{ photo: photo() }] }),
  'a file in a map': () => new Map([['photo', photo()]]),
  'a form with a file': () => formOf({ photo: photo() }),
  'a long text': () => text,
  'a long text in an object': () => ({ photo: text }),
  'many bytes': () => ({ photo: new TextEncoder().encode(text) }),
  'a long list': () => Array.from({ length: 5000 }, (_, n) => ({ n, name: `item ${n}` })),
};

/** The number of bytes that are written to the disk, as far as they are of values that are large. */
let written: number;

const sizeOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  if (value instanceof Blob) return value.size;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 1;
  const parts = value instanceof Map ? [...value.values()] : Object.values(value);
  return parts.reduce<number>((sum, part) => sum + sizeOf(part), 0);
};

beforeEach(() => {
  written = 0;
  for (const name of ['put', 'add'] as const) {
    const real = IDBObjectStore.prototype[name];
    vi.spyOn(IDBObjectStore.prototype, name).mockImplementation(function (
      this: IDBObjectStore,
      ...given
    ) {
      written += sizeOf(given[0]);
      return real.apply(this, given);
    });
  }
});
afterEach(() => void vi.restoreAllMocks());

const handlers = {
  upload: {
    mutationFn: (
      variables: unknown,
      { json }: { json: (url: string, init: object) => Promise<unknown> },
    ) =>
      json(`${api}/photos`, {
        method: 'POST',
        ...(Object(variables).photo instanceof Blob
          ? { body: formOf(variables) }
          : { json: { what: 'sent without it' } }),
      }),
  },
};

test.each(Object.keys(contents))(
  '%s is written to the disk once, however many attempts and pages its entry needs, and goes with it',
  async (name) => {
    const browser = createBrowser();
    const content = contents[name]?.();
    const size = sizeOf(content instanceof FormData ? [...content] : content);
    browser.server.rule = (arrival) => arrival.cut();
    const first = browser.openTab({ handlers });
    const { idempotencyKey } = first.outbox.submit('upload', content);
    await browser.pass(60_000, 4000);
    first.crash();
    const second = browser.openTab({ handlers });
    await browser.pass(60_000, 4000);
    const attempts = browser.server.arrivals.length;
    expect(attempts).toBeGreaterThan(8);
    const copies = name === 'a file in an object' ? 2 : 1;
    // Each write of a row takes less than 1,500.
    expect(written - copies * size).toBeLessThan(attempts * 4 * 1500);
    expect((await second.outbox.find(idempotencyKey))?.variables).toEqual(content);
    browser.server.rule = (arrival) => arrival.answer(201);
    await browser.pass(400_000, 4000);
    expect(await second.outbox.discard(idempotencyKey)).toBe(true);
    expect(await leftIn(browser.name)).toEqual({ rows: 0, large: 0 });
  },
);

const openRaw = (
  name: string,
  version?: number,
  layOut?: (database: IDBDatabase) => void,
): Promise<IDBDatabase> =>
  new Promise((resolve) => {
    const request = indexedDB.open(name, version);
    request.addEventListener('upgradeneeded', () => layOut?.(request.result));
    request.addEventListener('success', () => resolve(request.result));
  });

const ask = <T>(
  database: IDBDatabase,
  store: string,
  request: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> =>
  new Promise((resolve) => {
    const asked = request(database.transaction(store, 'readwrite').objectStore(store));
    asked.addEventListener('success', () => resolve(asked.result));
  });

async function leftIn(name: string): Promise<Record<string, number>> {
  const database = await openRaw(name);
  const left = {
    rows: await ask(database, 'rows', (rows) => rows.count()),
    large: await ask(database, 'large', (large) => large.count()),
  };
  database.close();
  return left;
}

test('an entry of version 1 of the database, which had no store for what is large, is delivered', async () => {
  const browser = createBrowser();
  const { name, server, openTab, pass } = browser;
  server.rule = (arrival) => arrival.answer(503, {}, { 'retry-after': '60' });
  const first = openTab({ handlers });
  first.outbox.submit('upload', { photo: photo() });
  await pass(1000);
  const [row] = await browser.rows();
  first.crash();
  await settle();
  await new Promise((deleted) =>
    indexedDB.deleteDatabase(name).addEventListener('success', deleted),
  );
  const earlier = await openRaw(name, 1, (database) => {
    const rows = database.createObjectStore('rows', { keyPath: 'seq', autoIncrement: true });
    for (const [index, field] of Object.entries(indexes))
      rows.createIndex(index, field as string, {
        unique: index === 'id',
        multiEntry: isMulti(index),
      });
    database.createObjectStore('owners', { keyPath: 'owner' });
  });
  await ask(earlier, 'rows', (rows) => rows.add(row));
  await ask(earlier, 'owners', (owners) =>
    owners.put({ owner: row?.owner, token: 'gone', signedAt: 0 }),
  );
  earlier.close();
  server.rule = (arrival) => arrival.answer(201);
  openTab({ handlers });
  await pass(70_000, 4000);
  expect(server.arrivals).toHaveLength(2);
  expect(server.arrivals[1]?.body).toBe(server.arrivals[0]?.body);
});
