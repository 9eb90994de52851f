import { type SteadfetchConfig, watchConnectivity } from 'steadfetch';

/** How a server in trouble treats a request. */
interface Fault {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly afterMs?: number;
  readonly isHanging?: boolean;
  /** The request does not arrive. */
  readonly isLost?: boolean;
}

interface Asked {
  /** Milliseconds since the trouble began. */
  readonly atMs: number;
  /** Whether it asks the one endpoint that is broken, where only one is. */
  readonly isBroken: boolean;
  /** How many requests came before it. */
  readonly before: number;
}

/** What is wrong, and for how long. */
export interface Trouble {
  readonly name: string;
  readonly faultOf?: (asked: Asked) => Fault | undefined;
  /** The browser says `offline` when the trouble begins, and `online` so long after that. */
  readonly offlineMs?: number;
  /** It does not say `offline`, because the page was loaded so. */
  readonly isLoadedOffline?: boolean;
  /** The page asks another endpoint, too, every ten seconds. */
  readonly hasShell?: boolean;
  /** What Steadfetch is given beside its defaults. */
  readonly config?: () => SteadfetchConfig;
}

const during =
  (ms: number, fault: Fault): NonNullable<Trouble['faultOf']> =>
  ({ atMs }) =>
    atMs < ms ? fault : undefined;

/** Whole seconds that are left of a limit, as a server tells them. */
const retryAfter = (ms: number): Fault => ({
  status: 429,
  headers: { 'retry-after': String(Math.ceil(ms / 1000)) },
});

export const troubles: readonly Trouble[] = [
  { name: 'one 503', faultOf: ({ before }) => (before === 0 ? { status: 503 } : undefined) },
  { name: '503 for 2 s', faultOf: during(2000, { status: 503 }) },
  { name: '503 for 6 s', faultOf: during(6000, { status: 503 }) },
  { name: '503 for 10 s', faultOf: during(10_000, { status: 503 }) },
  { name: '503 for 30 s', faultOf: during(30_000, { status: 503 }) },
  {
    name: 'one endpoint answers 503 for ever, another 200',
    hasShell: true,
    faultOf: ({ isBroken }) => (isBroken ? { status: 503 } : undefined),
  },
  { name: '503 for 70 s', faultOf: during(70_000, { status: 503 }) },
  { name: 'no network for 6 s', faultOf: during(6000, { isLost: true }) },
  { name: 'offline for 10 s', offlineMs: 10_000 },
  {
    name: 'offline for 10 s, with `watchConnectivity()`',
    offlineMs: 10_000,
    config: () => ({ connectivity: watchConnectivity() }),
  },
  { name: 'loaded offline, and online after 10 s', offlineMs: 10_000, isLoadedOffline: true },
  { name: '429 for 5 s', faultOf: during(5000, { status: 429 }) },
  {
    name: '429 for 5 s, with Retry-After',
    faultOf: ({ atMs }) => (atMs < 5000 ? retryAfter(5000 - atMs) : undefined),
  },
  {
    name: '429 for 90 s, with Retry-After',
    faultOf: ({ atMs }) => (atMs < 90_000 ? retryAfter(90_000 - atMs) : undefined),
  },
  { name: 'each answer takes 3 s', faultOf: () => ({ afterMs: 3000 }) },
  { name: 'no answer for 30 s', faultOf: during(30_000, { isHanging: true }) },
];

/** Outages that React Query alone retries through, of any length. */
export const lengths: readonly Trouble[] = Array.from({ length: 14 }, (_, index) => {
  const ms = 500 * (index + 1);
  return { name: `503 for ${ms / 1000} s`, faultOf: during(ms, { status: 503 }) };
});

/** Every good answer takes so long, and every failure. */
const answerMs = 50;

/** The server of all components, behind the global `fetch`. */
export interface Server {
  readonly fetch: typeof fetch;
  readonly begin: (trouble: Trouble, broken: string) => void;
  /** The requests since the trouble began, as `GET /api/list`. */
  readonly requests: readonly string[];
  /** The texts that were posted, and are stored. */
  readonly stored: readonly string[];
}

/** Makes a server that is well until its trouble begins. All that it tells is of edition 1 before, and 2 after. */
export function createServer(now: () => number): Server {
  const requests: string[] = [];
  const stored: string[] = [];
  let trouble:
    | { readonly it: Trouble; readonly broken: string; readonly beganAt: number }
    | undefined;

  const bodyOf = (method: string, url: URL, body: unknown): unknown => {
    const edition = trouble ? 2 : 1;
    const name = url.pathname.slice('/api/'.length);
    if (method === 'POST') {
      stored.push((JSON.parse(String(body)) as { text: string }).text);
      return { ok: true };
    }
    if (name === 'todos') return { items: ['Tea', ...stored] };
    if (name === 'user') return { id: 7, name: 'Ada' };
    const page = Number(url.searchParams.get('page') ?? 0);
    if (name === 'pages') return { items: [`Kite ${page}`], next: page < 2 ? page + 1 : null };
    return { items: [`${name} ${edition}`] };
  };

  const faultOf = (request: string): Fault | undefined => {
    if (!trouble) return undefined;
    const { it, broken, beganAt } = trouble;
    const before = requests.length;
    requests.push(request);
    const atMs = now() - beganAt;
    if (it.offlineMs !== undefined && atMs < it.offlineMs) return { isLost: true };
    return it.faultOf?.({ atMs, isBroken: request.startsWith(broken), before });
  };

  return {
    requests,
    stored,
    begin: (it, broken) => void (trouble = { it, broken, beganAt: now() }),
    async fetch(input, init) {
      const url = new URL(input instanceof Request ? input.url : String(input), location.href);
      const method = init?.method ?? 'GET';
      const {
        status = 200,
        headers,
        afterMs = answerMs,
        isHanging,
        isLost,
      } = faultOf(`${method} ${url.pathname}${url.search}`) ?? {};
      await new Promise<void>((resolve, reject) => {
        const { signal } = init ?? {};
        const abort = (): void => reject(signal?.reason as Error);
        if (signal?.aborted) abort();
        signal?.addEventListener('abort', abort, { once: true });
        if (!isHanging) setTimeout(resolve, afterMs);
      });
      if (isLost) throw new TypeError('Failed to fetch');
      if (status !== 200) return Response.json({}, { status, ...(headers && { headers }) });
      return Response.json(bodyOf(method, url, init?.body));
    },
  };
}
