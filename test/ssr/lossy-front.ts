import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '../../src/core/lib/clock.ts';

/** What becomes of a POST. */
type Fate = 'passed' | 'answer lost' | 'request lost' | 'answer late';

/** The front of an app, which loses requests and answers of its forms. */
export interface LossyFront {
  readonly origin: string;
  /** How many POSTs there were of each fate. */
  readonly fates: Readonly<Record<Fate, number>>;
  readonly close: () => void;
}

/** The first POST of an order is lost more often than its second, and a later one never is. */
function fateOf(post: number, random: Random): Fate {
  const draw = random();
  if (post > 2) return 'passed';
  const [lost, unsent, late] = post === 1 ? [0.25, 0.4, 0.5] : [0.15, 0.2, 0.25];
  if (draw < lost) return 'answer lost';
  if (draw < unsent) return 'request lost';
  return draw < late ? 'answer late' : 'passed';
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts on a free port of the loopback device, in front of the app on another. */
export async function startLossyFront(appPort: number, random: Random): Promise<LossyFront> {
  const posts = new Map<string, number>();
  const fates = { passed: 0, 'answer lost': 0, 'request lost': 0, 'answer late': 0 };

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { url = '/', method = 'GET', headers } = incoming;
    let fate: Fate = 'passed';
    if (method === 'POST') {
      const [order = ''] = /order-\d+/.exec(body.toString('latin1')) ?? [];
      const post = (posts.get(order) ?? 0) + 1;
      posts.set(order, post);
      fate = fateOf(post, random);
      fates[fate]++;
    }
    if (fate === 'request lost') return void incoming.socket.destroy();
    const options = { host: '127.0.0.1', port: appPort, path: url, method, headers };
    const pass = async (answer: IncomingMessage): Promise<void> => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      if (fate === 'answer lost') return void incoming.socket.destroy();
      if (fate === 'answer late') await wait(400);
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      outgoing.end(Buffer.concat(parts));
    };
    const drop = (): void => void incoming.socket.destroy();
    const passed = request(options, (answer) => void pass(answer).catch(drop));
    passed.on('error', drop);
    passed.end(body);
  };
  // A browser that has gone is no error.
  const server = createServer(
    (incoming, outgoing) => void serve(incoming, outgoing).catch(() => {}),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    fates,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
