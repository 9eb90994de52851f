import 'fake-indexeddb/auto';
import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  profiles,
  type Steadfetch,
  type SteadfetchConfig,
  defineIdempotency,
} from 'steadfetch';
import {
  type AnyOutboxHandlers,
  createOutbox,
  type Outbox,
  type OutboxConfig,
  type TabPorts,
} from 'steadfetch/outbox';
import { openIndexedDb } from '../../src/outbox/store/disk.ts';
import { RowStore } from '../../src/outbox/store/row-store.ts';
import type { Row } from '../../src/outbox/store/row.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { type Page, pageNow } from './page-now.ts';
import { createLocks } from '../core/origin/locks.ts';
import { createVirtualClock, type VirtualClock } from '../core/origin/virtual-clock.ts';

/** A request as the server gets it. */
export interface Arrival {
  readonly tab: number;
  readonly method: string;
  readonly url: string;
  readonly key: string | null;
  readonly body: string;
  readonly answer: (status: number, body?: unknown, headers?: Record<string, string>) => void;
  /** Something in between answers with a page of its own, after a redirect maybe. */
  readonly answerPage: (html: string, redirected?: boolean) => void;
  /** It is done, and the connection is cut within the body of its answer. */
  readonly cutBody: () => void;
  /** No answer comes: the connection is cut. */
  readonly cut: () => void;
  /** Nobody waits for its answer any more. */
  readonly isAborted: () => boolean;
}

/**
 * What becomes of what a tab asks of its database; 'abort' only once it is under way, 'hang' is written and
 * never said to be, 'closed' until it is opened anew.
 */
export type Fault = 'none' | 'write' | 'all' | 'quota' | 'abort' | 'hang' | 'closed';

/** A server that a test answers for, by hand or by rule. */
interface TestServer {
  readonly arrivals: readonly Arrival[];
  /** What answers by itself. @default nobody */
  rule: ((arrival: Arrival, count: number) => void) | undefined;
}

export interface TestTab<H extends AnyOutboxHandlers> {
  readonly outbox: Outbox<H>;
  readonly steady: Steadfetch;
  readonly client: QueryClient;
  /** Closed, or crashed: nothing of it goes on. */
  readonly crash: () => void;
  /** What it says to the other tabs does not reach them any more: it died before. */
  readonly mute: () => void;
  /** Put away: frozen, or in the back-forward cache. `isTold`: whether the page hears of it. @default true */
  readonly freeze: (isTold?: boolean) => void;
  readonly thaw: () => void;
  /** Somebody looks at it. */
  readonly look: () => void;
  /** How many locks it holds or asks for. */
  readonly locks: () => number;
  /** From now on its database fails so. */
  readonly fail: (fault: Fault) => void;
}

type TabOptions<H extends AnyOutboxHandlers> = Partial<
  Omit<OutboxConfig<H>, 'steady' | 'queryClient' | 'handlers'>
> & {
  readonly handlers: H;
  readonly hasLocks?: boolean;
  /** Whether the browser ever answers a request for a lock. @default true */
  readonly areLocksGranted?: boolean;
  readonly hasChannel?: boolean;
  /** Of the gates of its origins. */
  readonly health?: SteadfetchConfig['health'];
  /** How long its APIs keep keys. @default Infinity */
  readonly lifetimeMs?: number;
  /** Whether it declares that its APIs honour keys. @default true */
  readonly isKeyed?: boolean;
  /** Instead of those. */
  readonly apis?: SteadfetchConfig['apis'];
};

export interface TestBrowser {
  /** Of its database. */
  readonly name: string;
  readonly clock: VirtualClock;
  readonly server: TestServer;
  readonly openTab: <const H extends AnyOutboxHandlers>(options: TabOptions<H>) => TestTab<H>;
  /** Posts to every tab, as another version or a broken page might. */
  readonly post: (message: unknown) => void;
  /** What is on its disk. */
  readonly rows: () => Promise<readonly Row[]>;
  /** Lets time pass, and all that follows from it, in steps of 100 ms where no other length is given. */
  readonly pass: (ms: number, stepMs?: number) => Promise<void>;
}

const api = 'https://api.example';
const otherApi = 'https://keyed.example';

/** All that needs no time is done: what was asked of the database, too. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 90; turn += 1) await new Promise((done) => void setImmediate(done));
}

/**
 * The longest step of time for a database: it needs real turns, and no limit of its own (5 s) may begin and be
 * over within one step.
 */
export const longestStepMs = 4000;

/** As in browsers, `performance.now` counts the time that is awake, also where the wall clock is set back. */
function createBrowserClock(): VirtualClock {
  const clock = createVirtualClock();
  let setMs = 0;
  return {
    ...clock,
    jump(ms) {
      setMs += ms;
      clock.jump(ms);
    },
    sleep(ms) {
      setMs += ms;
      clock.sleep(ms);
    },
    elapsedMs: () => clock.elapsed() - setMs,
  };
}

/** A browser with a database of its own. */
export function createBrowser({ clock = createBrowserClock(), seed = 1 } = {}): TestBrowser {
  // All tests of a process share their databases, however often they are run in it.
  const name = `outbox ${crypto.randomUUID()}`;
  const ears = new Map<object, (message: unknown) => void>();
  const locks = createLocks(setImmediate);
  const arrivals: Arrival[] = [];
  const server: TestServer = { arrivals, rule: undefined };
  let tabs = 0;

  const post = (message: unknown, own?: object): void => {
    const copy: unknown = structuredClone(message);
    for (const ear of ears.keys())
      if (ear !== own) setImmediate(() => ears.get(ear)?.(structuredClone(copy)));
  };
  const openTab: TestBrowser['openTab'] = ({
    handlers,
    hasLocks = true,
    areLocksGranted = true,
    hasChannel = true,
    health,
    lifetimeMs = Infinity,
    isKeyed = true,
    apis,
    ...options
  }) => {
    tabs += 1;
    const tab = tabs;
    const held = locks.open(`${tab}`);
    const self = {};
    let isDead = false;
    let isFrozen = false;
    let isMute = false;
    let missed: (() => void)[] = [];
    let tell: (state: 'visible' | 'hidden' | 'away') => void = () => {};
    /** A page that sleeps does nothing of what it is told. */
    const awake = (act: () => void): void => {
      if (isDead) return;
      if (isFrozen) missed.push(act);
      else pageNow.run(page, act);
    };
    const ports: TabPorts = {
      open(_, receive) {
        if (!hasChannel) return undefined;
        ears.set(self, (message) => {
          if (!isDead && !isFrozen) pageNow.run(page, () => receive(message));
        });
        return {
          post: (message) => isMute || post(message, self),
          close: () => void ears.delete(self),
        };
      },
      lock: hasLocks
        ? (lockName, granted) =>
            areLocksGranted ? held.lock(lockName, () => awake(granted)) : () => {}
        : undefined,
      watch(listener) {
        tell = listener;
        return () => (tell = () => {});
      },
    };
    let fault: Fault = 'none';
    const watchDatabase = (mode: IDBTransactionMode | undefined): void => {
      if (isDead) throw new DOMException('The page is gone.', 'InvalidStateError');
      if (fault === 'closed')
        throw new DOMException('The connection is closed.', 'InvalidStateError');
      const isHit = mode === 'readwrite' ? fault !== 'none' : fault === 'all';
      if (isHit && fault === 'quota') throw new DOMException('full', 'QuotaExceededError');
      if (isHit && fault !== 'abort' && fault !== 'hang')
        throw new DOMException('The disk is broken.', 'UnknownError');
    };
    const page: Page = {
      watch: watchDatabase,
      faultNow: () => fault,
      onOpen() {
        if (fault === 'closed') fault = 'none';
      },
    };
    const tabClock = {
      ...clock,
      setTimeout: (callback: () => void, delayMs: number) =>
        clock.setTimeout(() => awake(callback), delayMs),
    };
    const transport: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      // A stream takes turns of its own, which nobody could count.
      const body = typeof init?.body === 'string' ? init.body : await request.text();
      return new Promise((resolve, reject) => {
        request.signal.addEventListener('abort', () => reject(request.signal.reason));
        const arrival: Arrival = {
          tab,
          method: request.method,
          url: request.url,
          key: request.headers.get('idempotency-key'),
          body,
          answer: (status, answer = {}, headers = {}) =>
            awake(() => resolve(Response.json(answer, { status, headers }))),
          answerPage: (html, redirected = false) =>
            awake(() => {
              const shown = new Response(html, { headers: { 'content-type': 'text/html' } });
              resolve(Object.defineProperty(shown, 'redirected', { value: redirected }));
            }),
          cutBody: () =>
            awake(() => {
              const broken = new ReadableStream({
                start: (stream) => stream.error(new TypeError('cut')),
              });
              resolve(new Response(broken, { headers: { 'content-type': 'application/json' } }));
            }),
          cut: () => awake(() => reject(new TypeError('cut'))),
          isAborted: () => request.signal.aborted,
        };
        arrivals.push(arrival);
        server.rule?.(arrival, arrivals.length);
      });
    };
    const steady = createSteadfetch({
      clock: tabClock,
      random: seededRandom(seed * 100 + tab),
      fetch: transport,
      health,
      apis:
        apis ??
        [api, otherApi]
          .filter(() => isKeyed)
          .map((match) => ({
            match,
            idempotency: defineIdempotency({
              ...profiles.draft,
              format: 'raw' as const,
              lifetimeMs,
            }),
          })),
    });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const outbox = pageNow.run(page, () =>
      createOutbox({ name, ports, ...options, steady, queryClient: client, handlers }),
    );
    return {
      outbox,
      steady,
      client,
      locks: held.count,
      look: () => tell('visible'),
      mute: () => (isMute = true),
      fail(next) {
        fault = next;
      },
      crash() {
        isDead = true;
        ears.delete(self);
        held.giveUp();
        outbox.dispose();
      },
      freeze(isTold = true) {
        if (isTold) tell('away');
        isFrozen = true;
      },
      thaw() {
        isFrozen = false;
        const late = missed;
        missed = [];
        for (const act of late) act();
        tell('visible');
      },
    };
  };

  return {
    name,
    clock,
    server,
    openTab,
    post: (message) => post(message),
    async rows() {
      const backend = await openIndexedDb(name, clock);
      const rows = await new RowStore(backend).list(undefined, 0, 1_000_000);
      backend.close();
      return rows;
    },
    async pass(ms, stepMs = 100) {
      await settle();
      // In small steps, so that what follows from one timer is there before the next.
      for (let left = ms; left > 0; left -= stepMs) {
        clock.advance(Math.min(left, stepMs));
        await settle();
      }
    },
  };
}

function abort(native: IDBTransaction): void {
  try {
    native.abort();
  } catch {
    // It was complete already.
  }
}

function hang(native: IDBTransaction): void {
  const listen = native.addEventListener.bind(native);
  native.addEventListener = (type: string, listener: EventListener) => {
    if (type !== 'complete') listen(type, listener);
  };
}

const { open: openReal } = IDBFactory.prototype;
IDBFactory.prototype.open = function (...args) {
  const request = openReal.apply(this, args);
  const page = pageNow.getStore();
  if (page)
    request.addEventListener('success', () => {
      const database = request.result;
      page.onOpen();
      const transaction = database.transaction.bind(database);
      database.transaction = (stores, mode, options) => {
        page.watch(mode);
        const native = transaction(stores, mode, options);
        if (mode === 'readwrite' && page.faultNow() === 'abort') setImmediate(() => abort(native));
        if (mode === 'readwrite' && page.faultNow() === 'hang') hang(native);
        return native;
      };
    });
  return request;
};

/** Handlers of a shop, whose requests the test sees. */
export const shop = {
  order: {
    mutationFn: (
      order: unknown,
      { json }: Parameters<AnyOutboxHandlers[string]['mutationFn']>[1],
    ) => json<{ id: number }>(`${api}/orders`, { method: 'POST', json: order }),
  },
} as const satisfies AnyOutboxHandlers;

export { api, otherApi };

/** An API that is not declared to honour keys. */
export const plainApi = 'https://plain.example';
