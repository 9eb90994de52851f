import { onlineManager } from '@tanstack/react-query';
import { targetOf, type Instance } from '../core/internal.ts';
import type { Transport } from '../core/lib/clock.ts';
import { createStore, type Readable } from '../core/lib/store.ts';
import { toUrl } from '../core/lib/input/url.ts';
import { failTimes, rateLimited } from '../testing/faults/answer-faults.ts';
import { cutBody, hang, networkError, slow } from '../testing/faults/connection-faults.ts';
import { loseAnswer } from '../testing/faults/delivery-faults.ts';
import type { Fault, ResolverInfo } from '../testing/faults/fault.ts';

/** The effect of a fault on requests. */
export type FaultKind = 'fail' | 'rate-limit' | 'hang' | 'cut' | 'lose' | 'slow' | 'offline';

/** A fault, as entered in the panel. */
export interface FaultWish {
  readonly kind: FaultKind;
  /** The endpoint to fail; empty for every request. */
  readonly endpoint: string;
  /** The number of requests to fail, from now on. */
  readonly times: number;
  /** The status of `fail`. */
  readonly status: number;
  /** The length of a rate limit, or the delay of slow answers. */
  readonly seconds: number;
}

/** A fault in force. */
interface ActiveFault {
  readonly id: number;
  readonly endpoint: string;
  /** The effect of the fault, as a sentence without a subject. */
  readonly description: string;
  /** The number of requests that met it. */
  readonly met: number;
}

/** The faults of an instance. While there are any, they wrap its transport. */
export interface Faults extends Readable<readonly ActiveFault[]> {
  /** @throws TypeError for an invalid number. */
  readonly add: (wish: FaultWish) => void;
  readonly remove: (id: number) => void;
}

/** The argument of a fault: the request, and a function that gets the server's answer. */
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
  const setOffline = createOfflineSwitch();

  const show = (): void => set(all.map(toActive));
  /** Passes a request through the faults, until one answers. */
  const meet = async (
    transport: Transport,
    input: Parameters<Transport>[0],
    init: RequestInit | undefined,
  ): Promise<Response> => {
    const { url, method, headers, signal } = requestOf(input, init);
    const { endpoint } = targetOf(method, url, context.findApi(url));
    for (const { wish, fault } of all) {
      if (wish.endpoint && wish.endpoint !== endpoint) continue;
      // Without the body, which only the server reads.
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
    setOffline(all.some(({ wish }) => wish.kind === 'offline'));
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
    add(given) {
      const id = ++lastId;
      // The endpoint may be left from another choice in the form.
      const wish = given.kind === 'offline' ? { ...given, endpoint: '' } : given;
      change([...all, { id, wish, fault: make(wish) }]);
    },
    remove(id) {
      const own = all.find((one) => one.id === id);
      // Requests that hang in the fault end with its failure.
      own?.fault.reset();
      change(all.filter((one) => one !== own));
    },
  };
}

/** Takes the page offline for React Query, and afterwards back to the state of before. */
function createOfflineSwitch(): (isOffline: boolean) => void {
  let wasOnline: boolean | undefined;
  return (isOffline) => {
    if (isOffline === (wasOnline !== undefined)) return;
    const next = isOffline ? false : wasOnline;
    wasOnline = isOffline ? onlineManager.isOnline() : undefined;
    onlineManager.setOnline(!!next);
  };
}

const toActive = ({ id, wish, fault }: Own): ActiveFault => ({
  id,
  endpoint: wish.endpoint,
  description: fault.description,
  met: fault.requestCount,
});

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
