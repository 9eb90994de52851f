import { vi } from 'vitest';

// What React Native 0.86 gives an app, as far as it is less than a browser does. Its `AbortController` is
// abort-controller 3.0.0 and its `fetch` is whatwg-fetch 3 (Libraries/Core/setUpXHR.js in
// github.com/facebook/react-native): signals without `reason`, `throwIfAborted`, `any`, `timeout` and
// `abort` (react-native#50015, #55247), answers without streams (react-native#27741), a Request without a
// name. Hermes is ECMAScript without the web (hermes#1072): no `DOMException`, no `structuredClone`
// (hermes#684), no `crypto`; and no `FinalizationRegistry` (hermes#604).

type Listener = ((event: object) => void) | { readonly handleEvent: (event: object) => void };

class NativeAbortSignal {
  aborted = false;
  readonly #listeners = new Set<Listener>();
  get [Symbol.toStringTag](): string {
    return 'AbortSignal';
  }
  addEventListener(_: 'abort', listener: Listener): void {
    this.#listeners.add(listener);
  }
  removeEventListener(_: 'abort', listener: Listener): void {
    this.#listeners.delete(listener);
  }
  dispatchEvent(event: object): void {
    this.aborted = true;
    for (const listener of this.#listeners)
      if (typeof listener === 'function') listener(event);
      else listener.handleEvent(event);
  }
}

class NativeAbortController {
  readonly signal: NativeAbortSignal = new NativeAbortSignal();
  /** Drops the reason. */
  abort(): void {
    if (!this.signal.aborted) this.signal.dispatchEvent({ type: 'abort' });
  }
}

interface NativeInit {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly url?: string;
}

/** Without `body`, `bytes` and streams: all of it is there. */
export class NativeResponse {
  readonly type = 'default';
  readonly status: number;
  readonly ok: boolean;
  readonly statusText = '';
  readonly headers: Headers;
  readonly url: string;
  bodyUsed = false;
  readonly #text: string;
  readonly #init: NativeInit;
  constructor(text: string | null = '', init: NativeInit = {}) {
    this.#text = text ?? '';
    this.#init = init;
    this.status = init.status ?? 200;
    this.ok = this.status >= 200 && this.status < 300;
    this.headers = new Headers(init.headers);
    this.url = init.url ?? '';
  }
  async text(): Promise<string> {
    if (this.bodyUsed) throw new TypeError('Already read');
    this.bodyUsed = true;
    return this.#text;
  }
  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }
  clone(): NativeResponse {
    return new NativeResponse(this.#text, this.#init);
  }
}

class NativeRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly bodyUsed = false;
  constructor(url: string | URL, init: RequestInit = {}) {
    this.url = String(url);
    this.method = init.method ?? 'GET';
    this.headers = new Headers(init.headers);
    this.signal = init.signal ?? new AbortController().signal;
  }
}

/** Without a name and without entries: only the native side reads its parts. */
class NativeFormData {
  readonly #parts: [string, unknown][] = [];
  append(name: string, value: unknown): void {
    this.#parts.push([name, value]);
  }
  getParts(): unknown[] {
    return this.#parts;
  }
}

const missing = [
  'BroadcastChannel',
  'DOMException',
  'Event',
  'EventTarget',
  'FinalizationRegistry',
  'MessageChannel',
  'ReadableStream',
  'TransformStream',
  'WritableStream',
  'addEventListener',
  'crypto',
  'document',
  'indexedDB',
  'location',
  'reportError',
  'sessionStorage',
  'structuredClone',
];

/** Makes this process what an app in React Native sees, until the returned function is called. */
export function enterReactNative(): () => void {
  const kept = new Map(
    missing.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
  );
  // First: Node loads its own `fetch` when it is looked at, which needs what is missing then.
  vi.stubGlobal('window', globalThis);
  vi.stubGlobal('navigator', { product: 'ReactNative' });
  vi.stubGlobal('AbortController', NativeAbortController);
  vi.stubGlobal('AbortSignal', NativeAbortSignal);
  vi.stubGlobal('Response', NativeResponse);
  vi.stubGlobal('Request', NativeRequest);
  vi.stubGlobal('FormData', NativeFormData);
  for (const name of missing) Reflect.deleteProperty(globalThis, name);
  return () => {
    vi.unstubAllGlobals();
    for (const [name, descriptor] of kept)
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
  };
}
