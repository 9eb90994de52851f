import { createRequire } from 'node:module';
import type { Transport } from 'steadfetch';

const require = createRequire(import.meta.url);

type ResponseClass = new (body: string, init: ResponseInit) => Response;

/** The Response of whatwg-fetch, of which React Native has a fork: its members are in plain sight, and it has no stream. */
export const polyfill = require('whatwg-fetch') as {
  readonly Response: ResponseClass;
  readonly Request: typeof Request;
};

export const nodeFetch2 = require('node-fetch-2') as Transport;

interface FetchMock {
  (input: unknown, init?: unknown): Promise<Response>;
  mockResponse(answer: (request: { url: string }) => Promise<object>): void;
}

/** A mock that answers with the Response of cross-fetch. */
export function createFetchMock(version: 3 | 4): Transport {
  // It asks for Jest's own functions as it is loaded.
  Object.assign(globalThis, { jest: { fn: jestFn } });
  const { fetch, Headers, Request, Response } = globalThis;
  const loaded = (
    version === 3 ? require('jest-fetch-mock-3') : require('jest-fetch-mock')
  ) as FetchMock & { readonly default?: FetchMock };
  // It puts its own in their places.
  Object.assign(globalThis, { fetch, Headers, Request, Response });
  const mock = loaded.default ?? loaded;
  mock.mockResponse(async ({ url }) => ({
    body: '{"id":1}',
    status: url.endsWith('/refused') ? 409 : 200,
    headers: { 'content-type': 'application/json' },
  }));
  return async (input, init) => mock(input, { ...init, signal: undefined });
}

/** As much of `jest.fn` as jest-fetch-mock needs. */
function jestFn(given?: (...all: unknown[]) => unknown) {
  let run = given;
  const mock = (...all: unknown[]): unknown => run?.(...all);
  return Object.assign(mock, {
    mockImplementation: (next: typeof given) => ((run = next), mock),
    mockImplementationOnce: () => mock,
    mockReset: () => {},
    mockRestore: () => {},
    isMocking: () => true,
  });
}

/** As in expo/fetch: a stream, and readers that go by `this.body` and by state of its own. */
class ExpoResponse {
  private stream: ReadableStream<Uint8Array> | null = null;
  private isRead = false;
  readonly status: number;
  readonly headers: Headers;
  private readonly content: string;
  constructor(content: string, { status = 200, headers }: ResponseInit) {
    this.content = content;
    this.status = status;
    this.headers = new Headers(headers);
  }
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }
  get bodyUsed(): boolean {
    return this.isRead;
  }
  get body(): ReadableStream<Uint8Array> | null {
    const { content } = this;
    return (this.stream ??= new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(content));
        controller.close();
      },
    }));
  }
  clone(): ExpoResponse {
    const copy = new ExpoResponse(this.content, this);
    if (this.body) [this.stream, copy.stream] = this.body.tee();
    return copy;
  }
  async text(): Promise<string> {
    if (this.isRead) throw new TypeError('already read');
    this.isRead = true;
    let text = '';
    for await (const part of this.body ?? []) text += new TextDecoder().decode(part);
    return text;
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }
}

export const expoResponse = (content: string, init: ResponseInit): ExpoResponse =>
  new ExpoResponse(content, init);
