import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';

/** Serves a handler of web-standard requests with Node's http server. */
export const toListener =
  (handle: (request: Request) => Promise<Response>): RequestListener =>
  async (incoming, outgoing) => {
    try {
      await send(await handle(toRequest(incoming)), outgoing);
    } catch (error) {
      // Also a request that the web's Request refuses (`//`, TRACE): thrown on, it would end the process.
      console.error(error);
      outgoing.writeHead(500).end();
    }
  };

export function toRequest(incoming: IncomingMessage): Request {
  const { method = 'GET', url = '/' } = incoming;
  const headers = new Headers();
  for (const [name, value = []] of Object.entries(incoming.headers))
    // HTTP/2 adds its own, such as `:path`.
    if (!name.startsWith(':')) for (const one of [value].flat()) headers.append(name, one);
  const hasBody = method !== 'GET' && method !== 'HEAD';
  // Its stream would be empty, and any two bodies the same one.
  if (hasBody && incoming.readableDidRead)
    throw new TypeError(
      'The body was read before, as express.json() does: put this handler first.',
    );
  const body = hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array>) : null;
  const init = { method, headers, body, duplex: 'half' };
  // A fixed host, because the Host header of a client cannot be trusted.
  return new Request(new URL(url, 'http://localhost'), init);
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  const body = new Uint8Array(await response.arrayBuffer());
  outgoing.statusCode = response.status;
  // One by one, because Set-Cookie may occur several times.
  for (const [name, value] of response.headers) outgoing.appendHeader(name, value);
  outgoing.end(body);
}
