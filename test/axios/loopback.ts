import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import axiosNewest, { type AxiosStatic } from 'axios';
import axiosPrevious from 'axios-0';
import { onTestFinished } from 'vitest';

/** The parts of axios that both majors have, with the types of the newest. */
export const versions: readonly (readonly [string, AxiosStatic])[] = [
  ['axios, newest', axiosNewest],
  ['axios 0.x', axiosPrevious as unknown as AxiosStatic],
];

/** A request as it has arrived. */
export interface Arrived {
  readonly url: string;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** A server on loopback, until the test ends. */
export async function openServer(
  answer: (response: ServerResponse, request: Arrived) => void = (response) =>
    void response.setHeader('content-type', 'application/json').end('{"id":1}'),
): Promise<{ readonly origin: string; readonly host: string; readonly arrived: Arrived[] }> {
  const arrived: Arrived[] = [];
  const server = createServer((incoming, response) => {
    const { url = '', method = '', headers } = incoming;
    const take = async (): Promise<void> => {
      const request = { url, method, headers, body: await buffer(incoming) };
      arrived.push(request);
      answer(response, request);
    };
    void take();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, origin: `http://${host}`, arrived };
}
