import { onlineManager } from '@tanstack/react-query';
import { targetOf } from '../fetch/endpoint.ts';
import type { Transport } from '../lib/clock.ts';
import { createStore, type Readable } from '../lib/store.ts';
import { toUrl } from '../lib/input/url.ts';
import type { Instance } from '../react-query/instance.ts';
import { failTimes, rateLimited } from '../testing/faults/answer-faults.ts';
import { cutBody, hang, networkError, slow } from '../testing/faults/connection-faults.ts';
import { loseAnswer } from '../testing/faults/delivery-faults.ts';
import type { Fault, ResolverInfo } from '../testing/faults/fault.ts';

/** What is done to requests. */
export type FaultKind = 'fail' | 'rate-limit' | 'hang' | 'cut' | 'lose' | 'slow' | 'offline';

/** A fault that the user of the panel asks for. */
export interface FaultWish {
  readonly kind: FaultKind;
  /** The endpoint that it is for; empty for every request. */
  readonly endpoint: string;
  /** How many requests it is for, from now on. */
  readonly times: number;
  /** Of `fail`. */
  readonly status: number;
  /** How long a rate limit is, or how slow the answers are. */
  readonly seconds: number;
}

/** One that is in force. */
interface ActiveFault {
  readonly id: number;
  readonly endpoint: string;
  /** What it does, as a sentence without a subject. */
  readonly description: string;
  /** How many requests it has met. */
  readonly met: number;
}

/** The faults of an instance: they are put in front of what sends its requests, while there are any. */
export interface Faults extends Readable<readonly ActiveFault[]> {
  /** @throws TypeError when a number is not as it must be. */
  readonly add: (wish: FaultWish) => void;
  readonly remove: (id: number) => void;
}

/** What a fault is given: the request, and what the server answers it with. */
interface Sent extends ResolverInfo {
  readonly answer: () => Promise<Response>;
}

interface Own {
  readonly id: number;
  readonly wish: FaultWish;
  readonly fault: Fault<Sent>;
}

export function createFaults({ context }: Pick<Instance, 'context'>): Faults {
  const { getState, subscribe, set } = createStore<readonly ActiveFault[]>([]);
  let all: readonly Own[] = [];
  let lastId = 0;
  let send: Transport | undefined;

  const show = (): void =>
    set(
      all.map(({ id, wish: { endpoint }, fault: { description, requestCount } }) => ({
        id,
        endpoint,
        description,
        met: requestCount,
      })),
    );
  /** Its faults in turn, until one answers. */
  const meet = async (
    transport: Transport,
    input: Parameters<Transport>[0],
    init: RequestInit | undefined,
  ): Promise<Response> => {
    const { url, method, headers, signal } = requestOf(input, init);
    const { endpoint } = targetOf(method, url, context.findApi(url));
    for (const { wish, fault } of all) {
      if (wish.endpoint && wish.endpoint !== endpoint) continue;
      // Its body is for the server alone.
      const request = new Request(url, { method, headers, ...(signal && { signal }) });
      const answer = await fault({ request, answer: () => transport(input, init) });
      show();
      if (signal?.aborted) throw signal.reason;
      if (answer?.type === 'error')
        throw new TypeError('Failed to fetch: a fault of the devtools.');
      if (answer) return answer;
    }
    return transport(input, init);
  };
  const change = (next: readonly Own[]): void => {
    all = next;
    if (all.length > 0 && !send) {
      const given = (send = context.transport);
      context.transport = (input, init) => meet(given, input, init);
    } else if (all.length === 0 && send) {
      context.transport = send;
      send = undefined;
    }
    show();
  };
  return {
    getState,
    subscribe,
    add(wish) {
      const id = ++lastId;
      change([...all, { id, wish, fault: make(wish) }]);
      if (wish.kind === 'offline') onlineManager.setOnline(false);
    },
    remove(id) {
      const own = all.find((one) => one.id === id);
      // Who hangs in it goes on, to its failure.
      own?.fault.reset();
      change(all.filter((one) => one !== own));
      if (own?.wish.kind === 'offline') onlineManager.setOnline(true);
    },
  };
}

function make({ kind, times, status, seconds }: FaultWish): Fault<Sent> {
  switch (kind) {
    case 'fail':
      return failTimes(times, status);
    case 'rate-limit':
      return rateLimited({ retryAfterSeconds: seconds });
    case 'hang':
      return hang({ times });
    case 'cut':
      return cutBody({ times });
    case 'lose':
      return loseAnswer(({ answer }) => answer(), { times });
    case 'slow':
      return slow({ delayMs: seconds * 1000 });
    case 'offline':
      return networkError();
    default:
      return kind satisfies never;
  }
}

function requestOf(
  input: Parameters<Transport>[0],
  init: RequestInit | undefined,
): {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal | undefined;
} {
  const given = input instanceof Request ? input : undefined;
  return {
    url:
      toUrl(typeof input === 'string' ? input : 'url' in input ? input.url : input.href)?.href ??
      '',
    method: (init?.method ?? given?.method ?? 'GET').toUpperCase(),
    headers: new Headers(init?.headers ?? given?.headers),
    signal: init?.signal ?? given?.signal,
  };
}
