import { describe, expect, test } from 'vitest';
import { createBrowser, settle, shop, type TestBrowser, type TestTab } from './rig.ts';

type Tab = TestTab<typeof shop>;

interface Scene extends TestBrowser {
  /** The page that has submitted the entry, and waits for its end. */
  readonly waiting: Tab;
  readonly other: Tab;
  readonly key: string;
}

/** Where the page that waits is while its entry goes. */
const pages: Readonly<Record<string, (scene: Scene) => void | Promise<void>>> = {
  'has its attempt under way': () => {},
  'has it in backoff'({ server }) {
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '3000' });
  },
  'was put away with its attempt under way': ({ waiting }) => waiting.freeze(),
  async 'was put away with it in backoff'({ server, waiting }) {
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '3000' });
    await settle();
    waiting.freeze();
  },
  'sleeps, and does not know that, with its attempt under way': ({ waiting }) =>
    waiting.freeze(false),
  async 'sleeps, and does not know that, with it in backoff'({ server, waiting }) {
    server.arrivals[0]?.answer(503, {}, { 'retry-after': '3000' });
    await settle();
    waiting.freeze(false);
  },
};

/** What takes the entry away, of which no message comes. */
const removals: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  'a clear of another tab': ({ other }) => other.outbox.clear(),
  async 'a clear that is done late, once the disk is mended'({ other }) {
    other.fail('write');
    await other.outbox.clear().catch(() => {});
    other.fail('none');
  },
  'a user, in another tab': ({ other, key }) => other.outbox.discard(key),
  async 'a user who edits it in another tab, which delivers it'({ other, key, server, pass }) {
    server.rule = (arrival) => arrival.answer(201, { id: 2 });
    // An entry that is being sent is not edited.
    await pass(150_000, 4000);
    await other.outbox.edit(key, 'coffee');
  },
  async 'another tab, which has delivered it'({ other, key, server, pass }) {
    server.rule = (arrival) => arrival.answer(201, { id: 2 });
    await other.outbox.retry(key);
    await pass(150_000, 4000);
  },
  async 'its age, once another tab has delivered it'({ other, key, server, pass }) {
    server.rule = (arrival) => arrival.answer(201, { id: 2 });
    await other.outbox.retry(key);
    await pass(1_500_000, 4000);
  },
  'the browser, which deletes the database': async ({ name }) =>
    void indexedDB.deleteDatabase(name),
};

const wakings: Readonly<Record<string, (scene: Scene) => void>> = {
  '': () => {},
  ', and seconds pass before anything is done': ({ clock }) => clock.advance(4000),
};

describe.each(Object.entries(removals))('when %s takes an entry away', (_, remove) => {
  describe.each(Object.entries(pages))('from a page that %s', (_page, reach) => {
    test.each(Object.entries(wakings))(
      'that page tells how it ended within 25 s, or sends it to its end%s',
      async (_waking, wake) => {
        const browser = createBrowser();
        const { openTab, server, pass } = browser;
        const waiting = openTab({ handlers: shop, hasLocks: false });
        const other = openTab({ handlers: shop, hasLocks: false });
        await settle();
        const { delivered, idempotencyKey: key } = waiting.outbox.submit('order', 'tea');
        let end: unknown = 'nothing';
        delivered.then(
          () => (end = 'delivered'),
          (error: unknown) => (end = error),
        );
        await settle();
        const scene: Scene = { ...browser, waiting, other, key };
        await reach(scene);
        await settle();
        other.mute();
        await remove(scene);
        await settle();
        for (const arrival of server.arrivals) arrival.cut();
        waiting.thaw();
        wake(scene);
        server.rule = (arrival) => arrival.answer(201, { id: 1 });
        await pass(25_000, 1000);
        // A request of its own, or of the other tab, may have delivered it.
        const wasSentAgain = end === 'delivered' && server.arrivals.length > 1;
        const unknown = { name: 'SteadfetchError', outcome: { processed: 'unknown' } };
        expect({ end }).toMatchObject({ end: wasSentAgain ? 'delivered' : unknown });
      },
    );
  });
});
