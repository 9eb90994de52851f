import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a request: `refused` is a 503, and the app gets none of those that are refused or lost. */
export type Fate = 'passed' | 'refused' | 'answer lost' | 'request lost' | 'answer late';

/** A request, before its fate. */
export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly body: string;
}

/** The front of an app, which loses requests and answers. */
export interface Front {
  readonly origin: string;
  /** Where the app listens. */
  readonly setApp: (port: number) => void;
  readonly close: () => void;
}

const lateMs = 400;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function read(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Starts on a free port of the loopback device. */
export async function startFront(fateOf: (arrival: Arrival) => Fate): Promise<Front> {
  let appPort = 0;

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await read(incoming);
    const { url: path = '/', method = 'GET', headers } = incoming;
    const key = headers['idempotency-key'];
    const text = body.toString('latin1');
    const fate = fateOf({ method, path, key: Array.isArray(key) ? key[0] : key, body: text });
    const drop = (): void => void incoming.socket.destroy();
    if (fate === 'request lost') return drop();
    if (fate === 'refused') return void outgoing.writeHead(503).end();
    const pass = async (answer: IncomingMessage): Promise<void> => {
      const answered = await read(answer);
      if (fate === 'answer lost') return drop();
      if (fate === 'answer late') await wait(lateMs);
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      outgoing.end(answered);
    };
    const options = { host: '127.0.0.1', port: appPort, path, method, headers };
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
    setApp: (app) => (appPort = app),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
