import { slow } from 'steadfetch/testing';
import { isPlugged } from './plug.ts';
import { createFaults, isLate, type Trouble } from './troubles.ts';
import type { KeptState } from './kept-state.ts';
import type { Route } from './route.ts';

/** The two that are compared: React Query alone, and with Steadfetch. */
export type Side = 'alone' | 'steady';
export const sides: readonly Side[] = ['alone', 'steady'];
export const sideNames: Readonly<Record<Side, string>> = {
  alone: 'React Query alone',
  steady: 'Steadfetch',
};

/** What a server remembers of a run. */
export interface Desk {
  readonly run: number;
  readonly trouble: string;
  /** When its first request came, in epoch milliseconds. */
  readonly startedAt: number | undefined;
  readonly requests: number;
  /** Those since the last answer that arrived. */
  readonly nth: number;
  /** Each idempotency key that has come. */
  readonly keysSeen: readonly string[];
}

export const emptyDesk: Desk = {
  run: 0,
  trouble: '',
  startedAt: undefined,
  requests: 0,
  nth: 0,
  keysSeen: [],
};

/** A request on its way to a server, and what came back: nothing as long as `label` is undefined. */
interface WireEvent {
  readonly id: number;
  readonly at: number;
  readonly side: Side;
  /** The idempotency key, where it has one. */
  readonly key: string;
  readonly label: string | undefined;
  readonly isOk: boolean;
}

/** The API of one side of an act. */
export interface Server {
  readonly route: Route;
  /** Begins a run: its trouble from now on, and an address of its own. */
  readonly play: (trouble: Trouble) => void;
  readonly subscribe: (listener: (event: WireEvent) => void) => () => void;
}

interface Options<S extends Desk> {
  readonly side: Side;
  /** Such as `kites`; its method is that of `method`. */
  readonly path: string;
  readonly method: 'get' | 'post';
  readonly desk: KeptState<S>;
  /** A good answer, also one that is cut off. */
  readonly body?: string;
  readonly answer: (request: Request) => Promise<Response>;
  /** The answer is on its way back, and nothing happens to it. */
  readonly onArrived?: (response: Response) => Promise<void>;
}

/** Long enough that a request can be seen on its way. */
export const latency = slow({ delayMs: 400 });

/** Each run has a server of its own, so that none is down for what an earlier one has done. */
export const urlOf = (run: number, side: Side, path: string): string =>
  `https://run-${run}.kites.example/api/${side}/${path}`;

let lastId = 0;

export function createServer<S extends Desk>(options: Options<S>): Server {
  const { side, path, method, desk, body = '{}', answer, onArrived } = options;
  const listeners = new Set<(event: WireEvent) => void>();
  let playing: Trouble | undefined;
  let faults = createFaults(body);
  const tell = (id: number, { headers }: Request, response?: Response): void => {
    const key = (headers.get('idempotency-key') ?? '').replaceAll('"', '');
    const label = response && (response.type === 'error' ? 'no answer' : `${response.status}`);
    for (const listener of listeners) {
      listener({ id, at: Date.now(), side, key, label, isOk: response?.ok === true });
    }
  };

  const arrive = ({ headers }: Request): ReturnType<Trouble['meets']> => {
    const at = Date.now();
    const key = headers.get('idempotency-key');
    desk.update((state) => ({
      ...state,
      keysSeen: key === null ? state.keysSeen : [...new Set([...state.keysSeen, key])],
      requests: state.requests + 1,
      nth: state.nth + 1,
      startedAt: state.startedAt ?? at,
    }));
    const { nth, startedAt = at } = desk.getState();
    return playing?.meets({ nth, afterMs: at - startedAt });
  };

  /** Of an earlier run: nobody answers there any more. */
  const isOver = ({ url }: Request): boolean => url !== urlOf(desk.getState().run, side, path);

  const serve = async (info: { readonly request: Request }): Promise<Response> => {
    const mishap = arrive(info.request);
    await latency(info);
    if (isOver(info.request)) return Response.error();
    const early = mishap && !isLate(mishap) ? await faults[mishap](info) : undefined;
    if (early) return early;
    const response = await answer(info.request);
    const late = mishap && isLate(mishap) ? await faults[mishap](info) : undefined;
    if (late) return late;
    desk.update((state) => ({ ...state, nth: 0 }));
    await onArrived?.(response.clone());
    return response;
  };

  return {
    route: {
      method,
      path: `*/api/${side}/${path}`,
      async answer(info) {
        if (!isPlugged() || isOver(info.request)) return Response.error();
        const id = ++lastId;
        tell(id, info.request);
        const response = await serve(info);
        tell(id, info.request, response);
        return response;
      },
    },
    play(trouble) {
      for (const fault of Object.values(faults)) fault.reset();
      faults = createFaults(body);
      playing = trouble;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
