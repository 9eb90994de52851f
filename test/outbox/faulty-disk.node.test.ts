import type { OutboxContext } from 'steadfetch/outbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { names, type Request, requests, spoil, type Way } from './faults.ts';
import { api, createBrowser, plainApi, settle } from './rig.ts';

const handlers = {
  order: {
    mutationFn: (order: unknown, { json }: OutboxContext) =>
      json(`${api}/orders`, { method: 'POST', json: order }),
  },
  plain: {
    mutationFn: (order: unknown, { json }: OutboxContext) =>
      json(`${plainApi}/orders`, { method: 'POST', json: order }),
  },
};

/** How long the disk stays as it is: only as long as its connection, or a minute whatever is opened. */
type Span = 'its connection' | 'a minute';

/** An entry is sent, or whoever submitted it is told, within this time of its submission. */
const boundMs = 95_000;

/**
 * A page with an entry on its disk submits two more when its disk begins to fail, one of which has no key.
 * @returns what became of each, and what arrived at the server.
 */
async function run(hit: readonly Request[], way: Way, span: Span) {
  const { openTab, server, pass, clock } = createBrowser();
  const tab = openTab({ handlers });
  const { outbox } = tab;
  const before = outbox.submit('order', 'before');
  await settle();
  server.arrivals[0]?.answer(503, {}, { 'retry-after': '5' });
  await settle();
  server.rule = (arrival) => arrival.answer(201, { body: arrival.body });
  const hurt = new WeakSet<IDBDatabase>();
  let isOver = false;
  // What is open now is hit; and what is opened later, for a minute.
  const opened = new WeakSet<IDBDatabase>();
  const realOpen = IDBFactory.prototype.open;
  IDBFactory.prototype.open = function (...args) {
    const request = realOpen.apply(this, args);
    request.addEventListener('success', () => opened.add(request.result));
    return request;
  };
  const mend = spoil(hit, way, (database) => {
    if (isOver) return false;
    if (span === 'a minute') return true;
    if (!database || opened.has(database)) return false;
    hurt.add(database);
    return true;
  });
  onTestFinished(() => {
    mend();
    IDBFactory.prototype.open = realOpen;
    tab.crash();
  });
  const ends: Record<string, string> = {};
  const follow = (name: string, delivered: Promise<unknown>): void =>
    void delivered.then(
      () => (ends[name] = 'sent'),
      () => (ends[name] = 'told'),
    );
  follow('before', before.delivered);
  follow('keyed', outbox.submit('order', 'keyed').delivered);
  follow('plain', outbox.submit('plain', 'plain').delivered);
  const startedAt = clock.now();
  await pass(60_000, 4000);
  isOver = true;
  // By now the disk is well, also where it was not for a minute: it is opened again within a minute.
  await pass(boundMs, 4000);
  // What is shown is of the last write.
  outbox.submit('order', 'after');
  await pass(1000);
  expect(clock.now() - startedAt).toBeLessThan(160_000);
  const count = (body: string): number =>
    server.arrivals.filter((arrival) => arrival.body === `"${body}"`).length;
  const keysOf = (body: string): number =>
    new Set(server.arrivals.filter((one) => one.body === `"${body}"`).map(({ key }) => key)).size;
  const shown = {
    ends,
    plain: count('plain'),
    keys: [keysOf('keyed'), keysOf('before')],
    storage: outbox.getState().storage,
    left: (await outbox.list()).map(({ variables, state }) => [variables, state]),
  };
  return shown;
}

const well = {
  ends: { before: 'sent', keyed: 'sent', plain: 'sent' },
  plain: 1,
  keys: [1, 1],
  storage: 'durable',
  left: [],
};

/** A full disk is believed by its name: it is not the connection, and only room helps. */
const isFull = (name: string): boolean => name === 'QuotaExceededError';

describe.each<Span>(['its connection', 'a minute'])('for as long as %s', (span) => {
  const few = ['UnknownError', 'InvalidStateError', 'DataCloneError', 'QuotaExceededError'];
  const tried = (span === 'a minute' ? few : names).filter(
    (name) => span === 'a minute' || !isFull(name),
  );
  describe.each(requests)('whatever becomes of %s', (request) => {
    test.each(tried)('that throws %s: all is sent, and nothing twice', async (name) => {
      expect(await run([request], { kind: 'throws', name }, span)).toEqual(well);
    });
    test.each(tried)('that fails with %s: all is sent, and nothing twice', async (name) => {
      expect(await run([request], { kind: 'fails', name }, span)).toEqual(well);
    });
    test('that never answers: all is sent, and nothing twice', async () => {
      expect(await run([request], { kind: 'hangs' }, span)).toEqual(well);
    });
  });
  test('all requests fail with UnknownError, and no close event comes', async () => {
    const all: readonly Request[] = ['get', 'getAll', 'add', 'put', 'delete', 'cursor'];
    expect(await run(all, { kind: 'fails', name: 'UnknownError' }, span)).toEqual(well);
  });
});
