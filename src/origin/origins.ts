import type { Clock, Random } from '../policy/clock.ts';
import { browserPorts } from './browser-ports.ts';
import { createGate, type Gate } from './gate.ts';
import type { Network } from './network.ts';
import type { OriginOptions } from './options.ts';
import type { OriginState } from './outlook.ts';
import { createShare, type Share } from './share.ts';
import { createStore, type Readable } from './store.ts';

/** The gates of all origins that requests have gone to. */
export interface Origins {
  /** The gate of a URL, as it was passed to fetch, and of a declared partition of its origin. */
  readonly gateOf: (url: string, partition?: string, options?: OriginOptions) => Gate;
  /** The origins that requests have gone to. */
  readonly known: () => readonly string[];
  /** The state of one origin, its partitions included; of all of them, the worst, without an origin. */
  readonly stateOf: (origin?: string) => Readable<OriginState>;
  /** This tab works alone from now on, and what does not wait has no timer. */
  readonly dispose: () => void;
}

const up: OriginState = Object.freeze({ status: 'up', retryAt: undefined, waiting: 0 });
const rank = { up: 0, recovering: 1, 'rate-limited': 2, down: 3 } as const;

/** The origin of a URL; for what has none, the text before its path. */
export function originOf(url: string): string {
  const base = globalThis.location?.href;
  try {
    return new URL(url, base).origin;
  } catch {
    return '';
  }
}

export function createOrigins(
  clock: Clock,
  random: Random,
  defaults: OriginOptions,
  network?: Network,
): Origins {
  /** By what stands before the path: so that a URL need not be parsed for every request. */
  const keys = new Map<string, string>();
  const gates = new Map<string, Gate>();
  const changes = createStore<object>({});

  const keyOf = (url: string, partition: string): string => {
    // All of the authority, and whatever else: it is a name for what it resolves to.
    const end = url.indexOf('/', url.indexOf('//') + 2);
    const authority = end < 0 ? url : url.slice(0, end);
    const prefix = partition ? `${authority} ${partition}` : authority;
    let key = keys.get(prefix);
    if (key === undefined) {
      if (keys.size > 1000) keys.clear();
      keys.set(prefix, (key = `${originOf(url)} ${partition}`));
    }
    return key;
  };

  let opened: { readonly share: Share | undefined } | undefined;
  /** With the first request, not before: nothing starts at import, or on a server. */
  const openShare = (): Share | undefined => {
    if (!opened) {
      const { share = true } = defaults;
      const ports = share === true ? browserPorts() : share || undefined;
      opened = { share: ports && createShare(clock, ports) };
    }
    return opened.share;
  };

  const worst = (origin: string | undefined): OriginState => {
    let state = up;
    let waiting = 0;
    for (const [key, gate] of gates) {
      if (origin !== undefined && key.split(' ')[0] !== origin) continue;
      const own = gate.getState();
      waiting += own.waiting;
      if (rank[own.status] > rank[state.status]) state = own;
    }
    return state.waiting === waiting ? state : { ...state, waiting };
  };

  return {
    gateOf(url, partition = '', options) {
      const key = keyOf(url, partition);
      let gate = gates.get(key);
      if (!gate) {
        const share = openShare();
        gate = createGate(
          clock,
          random,
          { ...defaults, ...options },
          share && ((ear) => share.join(key, ear)),
          network,
        );
        gates.set(key, gate);
        gate.subscribe(() => changes.set({}));
      }
      return gate;
    },
    known: () => [...gates.keys()].map((key) => key.replace(/ .*/, '')),
    stateOf(origin) {
      const wanted = origin && originOf(origin);
      if (wanted === '')
        throw new TypeError(`useOriginStatus: '${origin}' is no URL, and must be one.`);
      let state = up;
      return {
        getState() {
          const { status, retryAt, waiting } = worst(wanted);
          if (status !== state.status || retryAt !== state.retryAt || waiting !== state.waiting) {
            state = { status, retryAt, waiting };
          }
          return state;
        },
        subscribe: changes.subscribe,
      };
    },
    dispose() {
      opened?.share?.dispose();
      opened = { share: undefined };
      for (const gate of gates.values()) gate.dispose();
    },
  };
}
