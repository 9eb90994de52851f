import type { Gate } from '../../src/origin/gate.ts';
import type { OriginState } from '../../src/origin/outlook.ts';
import type { Sign } from '../../src/origin/sign.ts';
import type { OriginOptions } from '../../src/origin/options.ts';
import { createOrigins } from '../../src/origin/origins.ts';
import type { SharePorts, TabLife } from '../../src/origin/share-ports.ts';
import type { Turn } from '../../src/origin/waiting.ts';
import type { Clock, Random } from '../../src/policy/clock.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { createLocks } from './locks.ts';

/** Messages and locks between processes take a moment. */
const wayMs = 1;

/** A tab's ports, and what happens to the tab. */
export interface TabPorts extends SharePorts {
  readonly become: (life: TabLife) => void;
  /** It is gone: closed, or crashed. */
  readonly close: () => void;
  /** What it has posted. */
  readonly posted: readonly unknown[];
  readonly locks: () => number;
}

/** What joins the tabs of one browser. */
export interface TestBrowser {
  readonly openPorts: () => TabPorts;
  /** Posts to every tab, as another version or a broken page might. */
  readonly post: (message: unknown) => void;
}

export function createBrowser(clock: Clock): TestBrowser {
  const ears = new Set<(message: unknown) => void>();
  const later = (act: () => void): unknown => clock.setTimeout(act, wayMs);
  const locks = createLocks(later);
  let tabs = 0;
  const post = (message: unknown, own?: (message: unknown) => void): void => {
    const copy = structuredClone(message);
    for (const ear of ears) if (ear !== own) later(() => ears.has(ear) && ear(copy));
  };
  return {
    post,
    openPorts() {
      tabs += 1;
      const held = locks.open(`${tabs}`);
      const posted: unknown[] = [];
      let own: ((message: unknown) => void) | undefined;
      let life: TabLife = 'visible';
      let tell: (life: TabLife) => void = () => {};
      return {
        posted,
        locks: held.count,
        open(receive) {
          const ear = (message: unknown): void => receive(message);
          own = ear;
          ears.add(ear);
          return {
            post(message) {
              posted.push(message);
              post(message, ear);
            },
            close: () => void ears.delete(ear),
          };
        },
        lock: held.lock,
        watch(listener) {
          tell = listener;
          listener(life);
          return () => (tell = () => {});
        },
        become(next) {
          life = next;
          tell(life);
        },
        close() {
          tell = () => {};
          if (own) ears.delete(own);
          held.giveUp();
        },
      };
    },
  };
}

export const origin = 'https://api.example';

/** A server that is up or down, and what has reached it. */
export interface TestServer {
  isUp: boolean;
  readonly arrivals: { readonly at: number; readonly tab: number; readonly isCanary: boolean }[];
}

export const createServer = (): TestServer => ({ isUp: true, arrivals: [] });

/** A tab that talks to the server through its gate. */
export interface Tab {
  readonly ports: TabPorts;
  readonly gate: Gate;
  readonly state: () => OriginState;
  /** Asks for something; it waits where it must. */
  readonly ask: () => void;
  /** When what was asked for has gone out, in milliseconds of the clock. */
  readonly sentAt: readonly number[];
}

export const latencyMs = 50;

const outage: Sign = { kind: 'outage', weight: 1 };
const success: Sign = { kind: 'alive', isSuccess: true };

export function openTab(
  clock: Clock,
  ports: TabPorts,
  server: TestServer,
  number: number,
  options: OriginOptions = {},
  random: Random = seededRandom(number),
): Tab {
  const origins = createOrigins(clock, random, { share: ports, ...options });
  const gate = origins.gateOf(`${origin}/items`);
  const sentAt: number[] = [];
  const send = (isCanary: boolean): void => {
    sentAt.push(clock.now());
    server.arrivals.push({ at: clock.now(), tab: number, isCanary });
    const sign = server.isUp ? success : outage;
    clock.setTimeout(() => gate.settle('GET /items', isCanary, sign, latencyMs), latencyMs);
  };
  const take = (turn: Turn): void => {
    if (turn !== 'expired') send(turn === 'canary');
  };
  return {
    ports,
    gate,
    sentAt,
    state: gate.getState,
    ask() {
      if (gate.tryEnter(true)) return send(false);
      const ask = {
        endpoint: 'GET /items',
        risk: 0,
        isNew: true,
        priority: 'user-visible',
      } as const;
      gate.wait({ ...ask, isFailFast: false, holdMs: 60_000, onHold: () => {} }, take);
    },
  };
}
