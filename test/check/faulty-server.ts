import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { readStringItem } from '../../src/core/headers/structured-field.ts';
import type { FaultName } from './faults.ts';

interface Stored {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface Entry {
  readonly owner: string;
  fingerprint: string | undefined;
  createdAt: number;
  lockedUntil: number;
  wasAsked?: boolean;
  answer?: Stored;
}

/** A request, as far as it has been read. */
interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly token: string | undefined;
  readonly text: string;
}

export interface FaultyServer {
  readonly url: URL;
  readonly effects: () => number;
  readonly advanceClock: (ms: number) => void;
  readonly restart: () => void;
  readonly close: () => void;
}

export const lifetimeMs = 10_000;
const leaseMs = 200;
const origin = 'https://app.example';

const json = (status: number, body: object, headers: Record<string, string> = {}): Stored => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  text: JSON.stringify(body),
});
const problem = (
  status: number,
  title: string,
  isBare = false,
  headers: Record<string, string> = {},
): Stored =>
  isBare
    ? { status, headers, text: '' }
    : json(status, { title }, { ...headers, 'content-type': 'application/problem+json' });

/** A server of orders that honours keys, but for one mistake. */
class Shop {
  readonly #fault: FaultName | undefined;
  #entries = new Map<string, Entry>();
  readonly #table: Record<string, Entry | undefined> = {};
  readonly #contents = new Map<string, Stored>();
  readonly #fingerprints = new Map<string, string>();
  #shared: Stored = problem(500, 'nothing');
  #aheadMs = 0;
  #lastId = 0;
  #answered = 0;

  constructor(fault: FaultName | undefined) {
    this.#fault = fault;
  }

  effects(): number {
    return this.#lastId;
  }

  advanceClock(ms: number): void {
    this.#aheadMs += ms;
  }

  restart(): void {
    if (this.#has('in-memory')) this.#entries = new Map();
  }

  #has(...names: readonly FaultName[]): boolean {
    return names.some((name) => name === this.#fault);
  }

  #now(): number {
    return Date.now() + this.#aheadMs;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://shop.test');
    if (request.method === 'OPTIONS') return this.#preflight(request, response);
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (this.#has('claims-before-body')) {
      const key = readStringItem(request.headers['idempotency-key'] as string);
      const entry = this.#entries.get(JSON.stringify([userOf(token), key]));
      if (key && !entry) this.#claim(JSON.stringify([userOf(token), key]), undefined, token);
      else if (entry && !entry.answer) return this.#send(response, request, this.#running());
    }
    let text = '';
    try {
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
    } catch {
      return;
    }
    if (this.#has('cuts-body')) text = text.slice(0, 32_768);
    const answer = await this.#answer({ request, response, url, token, text });
    if (answer) await this.#send(response, request, answer);
  }

  #preflight(request: IncomingMessage, response: ServerResponse): void {
    if (this.#has('cors-401')) return void response.writeHead(401).end();
    const key = this.#has('cors-no-key') ? '' : 'Idempotency-Key, ';
    response.writeHead(204, {
      ...this.#corsHeaders(204, false),
      'access-control-allow-headers': `${key}Content-Type, Authorization, X-Test`,
      'access-control-allow-methods': this.#has('cors-no-patch') ? 'POST' : 'POST, PUT, PATCH',
    });
    response.end();
    request.resume();
  }

  #corsHeaders(status: number, isReplay: boolean): Record<string, string> {
    if (this.#has('cors-not-on-replay') && isReplay) return {};
    if (this.#has('cors-not-on-4xx') && status >= 400) return {};
    const names = ['Date', 'Location'];
    if (!this.#has('cors-no-expose')) names.push('Retry-After');
    if (!this.#has('cors-no-marker')) names.push('Idempotent-Replayed');
    return {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': names.join(', '),
      ...(this.#has('cors-no-credentials') ? {} : { 'access-control-allow-credentials': 'true' }),
    };
  }

  async #send(response: ServerResponse, request: IncomingMessage, answer: Stored): Promise<void> {
    this.#answered += 1;
    const isReplay = answer.headers['idempotent-replayed'] === 'true';
    const cors = this.#corsHeaders(answer.status, isReplay);
    const { 'content-encoding': stored } = answer.headers;
    const isZipped = stored ?? /gzip/.test(request.headers['accept-encoding'] ?? '');
    const bytes = isZipped ? gzipSync(answer.text) : Buffer.from(answer.text);
    const encoding = isZipped ? { 'content-encoding': 'gzip' } : {};
    response.writeHead(answer.status, { ...answer.headers, ...cors, ...encoding });
    if (this.#has('stores-when-sent')) {
      response.write(bytes.subarray(0, 1));
      await delay(20);
      response.end(bytes.subarray(1));
    } else response.end(bytes);
  }

  async #answer(received: Received): Promise<Stored | undefined> {
    const { request, url, token, text } = received;
    const early = this.#authorize(received);
    if (early) return early;
    const key = this.#readKey(request);
    if (key === undefined) return (await this.#handle(received)) ?? problem(500, 'gone');
    if (typeof key !== 'string') {
      if (this.#has('no-key-after-effect')) this.#lastId += 1;
      return key;
    }
    const scope = this.#has('scope-token')
      ? token
      : this.#has('no-scope', 'stores-401', 'owner-takes-over')
        ? ''
        : userOf(token);
    const id = JSON.stringify([scope, key, ...(this.#has('key-and-bytes') ? [text] : [])]);
    const fingerprint = this.#fingerprint(request, url, text);
    const byOthers = this.#refuseForOthers(key, fingerprint, userOf(token));
    if (byOthers) return byOthers;
    if (this.#has('dedupes-content')) {
      const known = this.#contents.get(text);
      if (known) return this.#replay(known);
    }
    const entry = this.#find(id, key, userOf(token));
    const found = entry && this.#answerKnown(entry, fingerprint, id, text);
    if (found) return found;
    return this.#run(received, id, fingerprint);
  }

  #authorize({ request, token }: Received): Stored | undefined {
    const key = readStringItem(request.headers['idempotency-key'] as string) ?? '';
    if (token && token !== '') return undefined;
    if (this.#has('replays-before-auth')) {
      const known = [...this.#entries].find(([id]) => id.endsWith(`,${JSON.stringify(key)}]`));
      if (known?.[1].answer) return this.#replay(known[1].answer);
    }
    const refusal = problem(401, 'credentials');
    if (this.#has('stores-401')) {
      const entry = this.#claim(JSON.stringify(['', key]), undefined, token);
      entry.answer = refusal;
    }
    return refusal;
  }

  /** The key; undefined to go on without one. */
  #readKey(request: IncomingMessage): string | Stored | undefined {
    const { rawHeaders } = request;
    const field = this.#has('exact-header-name')
      ? rawHeaders[rawHeaders.indexOf('Idempotency-Key') + 1]
      : (request.headers['idempotency-key'] as string | undefined);
    const isThere = this.#has('exact-header-name')
      ? rawHeaders.includes('Idempotency-Key')
      : field !== undefined;
    if (!isThere || field === undefined) {
      if (this.#has('no-key-is-empty-key')) return '';
      if (this.#has('no-key-runs')) return undefined;
      return problem(400, 'a key is missing', this.#has('bare-400'));
    }
    if (field === '""' && this.#has('takes-empty-key')) return undefined;
    if (field === '""' && this.#has('shares-empty-key')) return '';
    const key = this.#parseKey(field);
    if (key === undefined || key === '') return problem(400, 'a key is malformed');
    if (key.length > 255 && !this.#has('any-length', 'key-255')) return problem(400, 'too long');
    if (key.length > 36 && this.#has('uuid-only')) return problem(400, 'too long');
    if (this.#has('key-lowercase')) return key.toLowerCase();
    if (this.#has('key-35')) return key.slice(0, 35);
    if (this.#has('key-255')) return key.slice(0, 255);
    return this.#has('key-trimmed') ? key.trim() : key;
  }

  #parseKey(field: string): string | undefined {
    if (this.#has('field-is-key')) return readStringItem(field) === undefined ? undefined : field;
    if (this.#has('no-escapes') && field.includes('\\')) return undefined;
    if (this.#has('first-of-two')) return readStringItem(field.split(', ')[0]);
    if (this.#has('takes-latin1')) return readStringItem(field.replaceAll(/[^ -~]/g, 'x'));
    if (this.#has('takes-unquoted') && /^[\da-f-]{36}$/.test(field)) return field;
    if (this.#has('takes-tokens') && /^[\w?:]+$/.test(field)) return field;
    return readStringItem(field);
  }

  #fingerprint({ method, headers }: IncomingMessage, url: URL, text: string): string {
    const path = this.#has('path-ignored') ? '' : url.pathname;
    const query = this.#has('hashes-no-query') ? '' : url.search;
    const head = `${this.#has('method-ignored') ? '' : method} ${path}${query}`;
    const more = this.#has('hashes-headers')
      ? `${headers['user-agent']}`
      : this.#has('hashes-content-length')
        ? headers['content-length']
        : '';
    return `${head}\n${more}\n${this.#contentOf(text)}`;
  }

  #contentOf(text: string): string {
    if (this.#has('no-fingerprint')) return '';
    if (this.#has('hashes-length')) return `${text.length}`;
    if (this.#has('hashes-beginning')) return text.slice(0, 1024);
    const body = parse(text);
    if (body && this.#has('hashes-top-level')) return JSON.stringify(body, Object.keys(body));
    if (body && this.#has('hashes-one-field')) return String(body['article']);
    return text;
  }

  #refuseForOthers(key: string, fingerprint: string, user: string): Stored | undefined {
    if (this.#has('owner-422')) {
      const owner = this.#fingerprints.get(key);
      if (owner !== undefined && owner !== user) return problem(422, 'the key is taken');
      this.#fingerprints.set(key, user);
    }
    if (this.#has('shared-fingerprint')) {
      const known = this.#fingerprints.get(key);
      if (known !== undefined && known !== fingerprint) return problem(422, 'other bytes');
      this.#fingerprints.set(key, fingerprint);
    }
    return undefined;
  }

  #find(id: string, key: string, user: string): Entry | undefined {
    if (this.#has('ignores-key')) return undefined;
    if (this.#has('plain-object')) {
      const found = this.#table[key];
      // A function of Object is no entry.
      if (found && !Object.hasOwn(found, 'createdAt')) throw new TypeError('no entry');
    }
    if (this.#has('key-pattern') && /[*%_?]$/.test(key)) {
      const start = JSON.stringify([user, key.slice(0, -1)]).slice(0, -2);
      return [...this.#entries].find(([one]) => one.startsWith(start))?.[1];
    }
    const entry = this.#entries.get(id);
    const keptMs = this.#has('expires-early') ? lifetimeMs / 2 : lifetimeMs;
    if (!entry || this.#now() - entry.createdAt >= keptMs) return undefined;
    if (this.#has('owner-takes-over') && entry.owner !== user) return undefined;
    return entry;
  }

  #running(): Stored {
    if (this.#has('race-500')) return problem(500, 'unique index');
    const status = this.#has('running-423') ? 423 : 409;
    const headers = this.#has('no-retry-after') ? {} : { 'retry-after': '1' };
    return problem(status, 'still running', this.#has('bare-409'), headers);
  }

  /** The answer to a request whose key is known; undefined if it may run. */
  #answerKnown(entry: Entry, fingerprint: string, id: string, text: string): Stored | undefined {
    const isSame = entry.fingerprint === undefined || entry.fingerprint === fingerprint;
    const isEmptyMatch = this.#has('empty-matches') && text === '';
    if (!isSame && !isEmptyMatch) {
      if (!entry.answer && this.#has('accepts-while-running'))
        return json(202, { status: 'accepted' });
      if (this.#has('mismatch-after-effect')) this.#lastId += 1;
      const status = this.#has('mismatch-400') ? 400 : 422;
      const quoted = this.#has('mismatch-leaks') ? (entry.answer?.text ?? '') : '';
      const refusal = problem(status, `other bytes`, this.#has('bare-422'));
      const shown = { ...refusal, text: refusal.text + quoted };
      if (this.#has('mismatch-overwrites')) entry.answer = shown;
      return shown;
    }
    if (entry.answer) {
      if (this.#has('replay-consumed')) this.#entries.delete(id);
      if (this.#has('lifetime-slides')) entry.createdAt = this.#now();
      return this.#replay(entry.answer);
    }
    if (entry.fingerprint === undefined || this.#now() >= entry.lockedUntil) return undefined;
    if (this.#has('checks-then-acts')) return undefined;
    entry.wasAsked = true;
    return this.#running();
  }

  #claim(id: string, fingerprint: string | undefined, token: string | undefined): Entry {
    const createdAt = this.#now();
    const lockMs = this.#has('short-lock') ? 30 : 60_000;
    const owner = userOf(token);
    const entry = { owner, fingerprint, createdAt, lockedUntil: createdAt + lockMs };
    this.#entries.set(id, entry);
    if (this.#has('plain-object')) this.#table[(JSON.parse(id) as string[])[1] ?? ''] = entry;
    return entry;
  }

  async #run(received: Received, id: string, fingerprint: string): Promise<Stored | undefined> {
    const { response, token, text } = received;
    const isLocked = [...this.#entries.values()].some(
      ({ answer, lockedUntil }) => !answer && lockedUntil > this.#now(),
    );
    if (this.#has('global-lock') && isLocked) return this.#running();
    const entry = this.#claim(id, fingerprint, token);
    if (this.#has('gone-client-unlocks'))
      response.on('close', () => void (entry.answer ?? this.#entries.delete(id)));
    let answer = await this.#handle(received);
    if (!answer) {
      // It has crashed: its lock stays.
      entry.lockedUntil = this.#has('crash-blocks') ? Infinity : this.#now() + leaseMs;
      return undefined;
    }
    if (this.#has('one-slot')) {
      this.#shared = answer;
      await delay(1);
      answer = this.#shared;
    }
    if (this.#has('dedupes-content')) this.#contents.set(text, answer);
    if (this.#isKept(answer, entry, response)) this.#store(entry, id, answer, response);
    else if (!this.#isBlocked(answer)) this.#entries.delete(id);
    return this.#has('all-marked') ? marked(answer) : answer;
  }

  #isBlocked({ status }: Stored): boolean {
    return status >= 500
      ? this.#has('failure-blocks')
      : status >= 400 && this.#has('refusal-blocks');
  }

  #isKept({ status }: Stored, entry: Entry, response: ServerResponse): boolean {
    if (this.#has('gone-client-forgets') && response.destroyed) return false;
    if (this.#has('forgets-waiters') && entry.wasAsked) return false;
    if (status >= 500) return this.#has('stores-failure');
    return status < 400 || !this.#has('forgets-refusal', 'refusal-blocks');
  }

  #store(entry: Entry, id: string, answer: Stored, response: ServerResponse): void {
    if (this.#has('stores-when-sent')) {
      response.on('close', () => {
        if (response.writableFinished) entry.answer = answer;
        else this.#entries.delete(id);
      });
      return;
    }
    const isStub = this.#has('race-stub') && entry.wasAsked;
    const text = this.#has('stores-latin1')
      ? Buffer.from(answer.text, 'latin1').toString('latin1')
      : answer.text;
    const isZipped =
      this.#has('replay-gzip') && /gzip/.test(response.req.headers['accept-encoding'] ?? '');
    const encoding = isZipped ? { 'content-encoding': 'gzip' } : {};
    entry.answer = isStub
      ? json(201, { duplicate: true })
      : { ...answer, text, headers: { ...answer.headers, ...encoding } };
  }

  #replay({ status, headers, text }: Stored): Stored {
    const kept = Object.entries(headers).filter(
      ([name]) =>
        !(name === 'set-cookie' && !this.#has('replay-cookie')) &&
        !(name === 'content-type' && this.#has('replay-untyped')) &&
        !(name === 'location' && this.#has('replay-without-location')),
    );
    const mark = this.#has('replay-unmarked') ? {} : { 'idempotent-replayed': 'true' };
    const body = parse(text) ?? {};
    const shown = this.#has('replay-new-time')
      ? JSON.stringify({ ...body, servedAt: process.hrtime.bigint().toString() })
      : this.#has('replay-reformatted')
        ? JSON.stringify(body, undefined, 2)
        : text;
    return {
      status: this.#has('replay-200') && status === 201 ? 200 : status,
      headers: { ...Object.fromEntries(kept), ...mark },
      text: shown,
    };
  }

  /** 200 ms, and until three others have had their answers meanwhile: however slow the machine is. */
  async #waitForOthers(): Promise<void> {
    const answeredBefore = this.#answered;
    for (let left = 40; left > 0; left -= 1) {
      await delay(50);
      if (left <= 37 && this.#answered >= answeredBefore + 3) return;
    }
  }

  /** Does what a request wants; undefined where it crashes. */
  async #handle({ request, response, url, text }: Received): Promise<Stored | undefined> {
    const wanted = request.headers['x-test'];
    await (wanted === 'slow' ? this.#waitForOthers() : delay(3));
    if (wanted === 'crash') {
      if (this.#has('crash-with-effect')) this.#lastId += 1;
      response.destroy();
      return undefined;
    }
    if (wanted === 'refuse') return problem(404, 'no such article');
    if (wanted === 'fail') {
      if (this.#has('failure-with-effect')) this.#lastId += 1;
      return problem(503, 'the warehouse is down');
    }
    if (wanted === 'failLate') {
      if (this.#has('no-rollback')) this.#lastId += 1;
      return problem(500, 'after the effect');
    }
    const body = parse(text);
    if (!body) return problem(this.#has('empty-500', 'cuts-body') ? 500 : 400, 'no JSON');
    this.#lastId += 1;
    const path = url.pathname;
    return json(
      201,
      { id: this.#lastId, ...body },
      { location: `${path}/${this.#lastId}`, 'set-cookie': `session=${this.#lastId}` },
    );
  }
}

const marked = (answer: Stored): Stored => ({
  ...answer,
  headers: { ...answer.headers, 'idempotent-replayed': 'true' },
});

/** `a` for the tokens `a-1` and `a-2`. */
const userOf = (token: string | undefined): string => token?.split('-')[0] ?? '';

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Starts a server on loopback, with one mistake or none. */
export async function startFaultyServer(fault?: FaultName): Promise<FaultyServer> {
  const shop = new Shop(fault);
  const server = createServer((request, response) => {
    shop.serve(request, response).catch(() => response.writeHead(500).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/orders`),
    effects: () => shop.effects(),
    advanceClock: (ms) => shop.advanceClock(ms),
    restart: () => shop.restart(),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
