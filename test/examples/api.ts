import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the API has got. */
interface Arrival {
  readonly from: 'server' | 'browser';
  readonly path: string;
  readonly key: string | undefined;
}

/** An answer: a status, 200 if it is left out, after a while. */
interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly afterMs?: number;
}

/** An API with failures, and the front of the app, which passes `/api` on to it and all else to the framework. */
export interface Api {
  readonly port: number;
  readonly arrivals: readonly Arrival[];
  /** How many orders there are: one for each key. */
  readonly orders: () => number;
  /** Forgets all that was, and answers the next requests of each path so. Then all is well. */
  readonly plan: (answers: Readonly<Record<string, readonly Answer[]>>) => void;
  /** Where the framework listens. */
  readonly setApp: (port: number) => void;
  readonly close: () => void;
}

const data: Readonly<Record<string, unknown>> = {
  '/api/products': ['kite', 'lamp'],
  '/api/offers': ['half a kite'],
};

/** Starts on a free port of the loopback device. */
export async function startApi(): Promise<Api> {
  let arrivals: Arrival[] = [];
  let plans: Record<string, Answer[]> = {};
  let orders = new Set<string>();
  let appPort = 0;

  const answerApi = async (incoming: IncomingMessage, path: string) => {
    const key = incoming.headers['idempotency-key'];
    const isBrowser = /Chrom/.test(incoming.headers['user-agent'] ?? '');
    arrivals.push({
      from: isBrowser ? 'browser' : 'server',
      path,
      key: Array.isArray(key) ? key[0] : key,
    });
    const answer = plans[path]?.shift() ?? {};
    await new Promise((resolve) => setTimeout(resolve, answer.afterMs ?? 0));
    const { status = 200, headers } = answer;
    if (status !== 200) return { status, headers, body: null };
    if (path === '/api/orders') orders.add(String(key));
    return { status, headers, body: data[path] ?? { id: `${orders.size}` } };
  };

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const path = incoming.url ?? '/';
    if (path.startsWith('/api/')) {
      incoming.resume();
      const { status, headers, body } = await answerApi(incoming, path);
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
      outgoing.end(JSON.stringify(body));
      return;
    }
    const { method, headers } = incoming;
    const passed = request(
      { host: '127.0.0.1', port: appPort, path, method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    passed.on('error', () => outgoing.writeHead(502).end());
    incoming.pipe(passed);
  };
  const server: Server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get arrivals() {
      return arrivals;
    },
    orders: () => orders.size,
    plan(answers) {
      arrivals = [];
      orders = new Set();
      plans = Object.fromEntries(Object.entries(answers).map(([path, list]) => [path, [...list]]));
    },
    setApp: (port) => (appPort = port),
    close: () => server.close(),
  };
}
