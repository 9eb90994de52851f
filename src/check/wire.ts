import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { systemClock } from '../core/lib/clock.ts';

/** A request as it goes on the wire. */
export interface Outgoing {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string;
  /** Without Content-Length. */
  readonly isChunked?: boolean | undefined;
}

/** An answer, or why there is none: its status is then 0. */
export interface Answer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly elapsedMs: number;
  /** Why there is no answer. */
  readonly failure?: string;
}

export const wait = (delayMs: number): Promise<void> =>
  new Promise((resolve) => void systemClock.setTimeout(resolve, delayMs));

/** A connection of its own for each request: an idle one that the server closes would lose a request. */
function open({ url, method, headers, body, isChunked }: Outgoing): ClientRequest {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const length = isChunked
    ? { 'transfer-encoding': 'chunked' }
    : { 'content-length': `${Buffer.byteLength(body)}` };
  const sent = Object.entries({ ...headers, ...length }).map(
    ([name, value]): [string, string | string[]] => [
      name,
      typeof value === 'string' ? value : [...value],
    ],
  );
  return send(url, { method, agent: false, headers: Object.fromEntries(sent) });
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

function decode(bytes: Buffer, encoding: string | undefined): string {
  try {
    return (decoders[encoding ?? '']?.(bytes) ?? bytes).toString('utf8');
  } catch {
    return bytes.toString('latin1');
  }
}

async function readAnswer(message: IncomingMessage, startMs: number): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const headers = Object.entries(message.headersDistinct).map(
    ([name, values = []]): [string, string] => [name, values.join(', ')],
  );
  const named: Record<string, string> = Object.fromEntries(headers);
  return {
    status: message.statusCode ?? 0,
    headers: named,
    text: decode(Buffer.concat(chunks), named['content-encoding']),
    elapsedMs: systemClock.now() - startMs,
  };
}

/** The answer to a request that has been opened. It never rejects, and it never follows a redirect. */
function answerTo(request: ClientRequest, timeoutMs: number): Promise<Answer> {
  const startMs = systemClock.now();
  return new Promise((resolve) => {
    const fail = (failure: string): void => {
      systemClock.clearTimeout(timer);
      const elapsedMs = systemClock.now() - startMs;
      resolve({ status: 0, headers: {}, text: '', elapsedMs, failure });
      request.destroy();
    };
    const timer = systemClock.setTimeout(
      () => fail(`no complete answer within ${timeoutMs} ms`),
      timeoutMs,
    );
    const explain = (error: unknown): void => {
      const { code, message } = error as NodeJS.ErrnoException;
      fail(code ?? message);
    };
    request.on('error', explain);
    request.on('response', (message) => {
      readAnswer(message, startMs)
        .then(resolve, explain)
        .finally(() => systemClock.clearTimeout(timer));
    });
  });
}

/** Sends a request. */
export function exchange(outgoing: Outgoing, timeoutMs: number): Promise<Answer> {
  const request = open(outgoing);
  const answer = answerTo(request, timeoutMs);
  request.end(outgoing.body);
  return answer;
}

/**
 * Sends requests so that they arrive at the same moment: all of each but its last byte, then the last bytes together.
 */
export async function exchangeAtOnce(
  list: readonly Outgoing[],
  timeoutMs: number,
): Promise<Answer[]> {
  const requests = list.map((outgoing) => ({ outgoing, request: open(outgoing) }));
  const answers = requests.map(({ request }) => answerTo(request, timeoutMs));
  const lastBytes = await Promise.all(
    requests.map(({ outgoing, request }) => {
      const bytes = Buffer.from(outgoing.body);
      const flushed = new Promise<void>((resolve) => {
        // One that cannot connect has its failure as an answer.
        request.on('error', () => resolve());
        if (bytes.length > 1) request.write(bytes.subarray(0, -1), () => resolve());
        else request.on('socket', () => resolve());
      });
      request.flushHeaders();
      return flushed.then(() => bytes.subarray(-1));
    }),
  );
  await wait(20);
  requests.forEach(({ request }, at) => request.end(lastBytes[at]));
  return Promise.all(answers);
}

/** When a client goes away: after half of the body, after all of it, or at the first byte of the answer. */
export type Departure = 'half' | 'sent' | 'answered';

/** Sends a request, and closes the connection before the answer is read. */
export function leave(outgoing: Outgoing, when: Departure, timeoutMs: number): Promise<void> {
  const request = open(outgoing);
  return new Promise((resolve) => {
    const go = (): void => {
      systemClock.clearTimeout(timer);
      request.destroy();
      resolve();
    };
    const timer = systemClock.setTimeout(go, timeoutMs);
    request.on('error', go);
    request.on('response', go);
    if (when === 'half') {
      const bytes = Buffer.from(outgoing.body);
      request.write(bytes.subarray(0, bytes.length >> 1), () => void wait(20).then(go));
    } else {
      // The answer may come before the client has gone: then it is lost all the same.
      request.end(outgoing.body, () => {
        if (when === 'sent') go();
      });
    }
  });
}
