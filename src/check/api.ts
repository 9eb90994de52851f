import { parseRetryAfter } from '../core/headers/retry-after.ts';
import { createIdempotencyKey, serializeKey } from '../core/idempotency/key.ts';
import { systemClock } from '../core/lib/clock.ts';
import { type BodyType, fill, readJson, typeOfBody, variantsOf, withValue } from './body.ts';
import { isAmbiguous, isDone, isInProgress } from './dialects.ts';
import { CannotRun, CannotTell } from './finding.ts';
import type { Settings, Trigger } from './settings.ts';
import {
  type Answer,
  type Departure,
  exchange,
  exchangeAtOnce,
  leave,
  type Outgoing,
  wait,
} from './wire.ts';

/** One thing to be done: a key and the bytes that belong to it. */
export interface Operation {
  readonly key: string;
  /** The body, without a key that goes in it. */
  readonly text: string;
}

/** A key as it is sent; null for none. Several values are several headers. */
type Field = string | readonly string[] | null;

/** How one request for an operation differs from the usual one. */
export interface Change {
  readonly field?: Field;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the headers of the user. */
  readonly user?: Readonly<Record<string, string>>;
  readonly url?: URL;
  readonly method?: string;
  readonly isChunked?: boolean;
  readonly trigger?: Trigger;
}

/** Short enough for a line of the report. */
export function describe({ status, text, failure, headers }: Answer): string {
  if (failure !== undefined) return `nothing (${failure})`;
  const oneLine = text.replaceAll(/\s+/g, ' ').trim();
  const body = oneLine.length > 120 ? `${oneLine.slice(0, 119)}…` : oneLine;
  const location = headers['location'] === undefined ? '' : ` Location: ${headers['location']}`;
  return `${status}${location}${body === '' ? ' without a body' : ` ${body}`}`;
}

/** How long an answer is asked for again that may be a final refusal. */
const shortLeaseMs = 300;

/** The API under check: how an operation is written, sent and repeated. */
export class Api {
  readonly bodyType: BodyType;
  readonly #settings: Settings;
  #operations = 0;
  #requests = 0;
  /** How many keys were in progress for the whole lease: after some of them no more is waited for. */
  #leasesEnded = 0;
  #otherText: ((text: string) => string) | undefined;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.bodyType = typeOfBody(settings.headers['content-type'] ?? '');
  }

  /** How many requests have been sent. */
  get requests(): number {
    return this.#requests;
  }

  /** An operation that has not been sent before. */
  operation(key: string = this.newKey()): Operation {
    this.#operations += 1;
    const unique = `${createIdempotencyKey().slice(0, 8)}${this.#operations}`;
    return { key, text: fill(this.#settings.body, unique) };
  }

  newKey(): string {
    const key = createIdempotencyKey();
    const { maxLength = Infinity } = this.#settings.declared.profile;
    return key.length > maxLength ? key.replaceAll('-', '').slice(0, maxLength) : key;
  }

  /** The same body with another meaning. */
  otherText(text: string): string {
    const { otherBody } = this.#settings;
    if (otherBody !== undefined) return fill(otherBody, 'other');
    const other = this.#otherText?.(text);
    if (other === undefined)
      throw new CannotTell(
        'no other body was found that the API accepts: give one with --other-body',
      );
    return other;
  }

  /** Finds a value in the body that can be another one, by trying. */
  async findOtherText(): Promise<void> {
    if (this.#settings.otherBody !== undefined) return;
    const count = variantsOf(this.operation().text, this.bodyType).length;
    for (let at = 0; at < Math.min(count, 6); at += 1) {
      const change = (text: string): string => variantsOf(text, this.bodyType)[at]?.text ?? text;
      const operation = this.operation();
      const answer = await this.send(operation, { text: change(operation.text) });
      if (!isDone(this.#settings.declared, answer)) continue;
      this.#otherText = change;
      return;
    }
  }

  /** A request for an operation, as it goes on the wire. */
  compose(operation: Operation, change: Change = {}): Outgoing {
    const { url, method } = this.#settings;
    const { field = this.#write(operation.key), isChunked } = change;
    return {
      url: change.url ?? url,
      method: change.method ?? method,
      headers: this.#headersFor(field, change),
      body: this.#bodyFor(operation, field, change),
      isChunked,
    };
  }

  #triggering({ trigger }: Change): { header?: readonly [string, string]; body?: string } {
    return (trigger && this.#settings.triggers[trigger]) ?? {};
  }

  #headersFor(field: Field, change: Change): Outgoing['headers'] {
    const { headers, declared, origin } = this.#settings;
    const name = declared.profile.header;
    const { header: triggering } = this.#triggering(change);
    return {
      accept: '*/*',
      ...(origin !== undefined && { origin }),
      ...headers,
      ...change.user,
      ...(name !== undefined && field !== null && { [name]: field }),
      ...(triggering && Object.fromEntries([triggering])),
      ...change.headers,
    };
  }

  #bodyFor({ text }: Operation, field: Field, change: Change): string {
    const body = change.text ?? this.#triggering(change).body ?? text;
    const { body: path } = this.#settings.declared.profile;
    const json = path === undefined ? undefined : readJson(body);
    if (path === undefined || json === undefined || field === null) return body;
    return JSON.stringify(withValue(json, path.split('.'), field));
  }

  #write(key: string): string {
    const { profile } = this.#settings.declared;
    if (profile.header === undefined) return key;
    const { format = 'structured' } = profile;
    return serializeKey(key, { format });
  }

  /** Sends one request. A rate limit is waited out, and the same request sent again. */
  async send(operation: Operation, change?: Change): Promise<Answer> {
    const outgoing = this.compose(operation, change);
    for (let times = 0; ; times += 1) {
      this.#requests += 1;
      const answer = await exchange(outgoing, this.#settings.timeoutMs);
      if (answer.status !== 429) return answer;
      await this.#waitOut(answer, times);
    }
  }

  /** Sends until the answer is no longer that the first request is still running. */
  async sendUntilAnswered(operation: Operation, change?: Change): Promise<Answer> {
    const startMs = systemClock.now();
    for (let delayMs = 25; ; delayMs = Math.min(delayMs * 2, 1000)) {
      const answer = await this.send(operation, change);
      const { declared, leaseMs } = this.#settings;
      if (!isInProgress(declared, answer) || this.#leasesEnded >= 5) return answer;
      const waitedMs = systemClock.now() - startMs;
      if (isAmbiguous(declared, answer) && waitedMs > shortLeaseMs) return answer;
      if (waitedMs > leaseMs) {
        this.#leasesEnded += 1;
        return answer;
      }
      await wait(delayMs);
    }
  }

  /** Sends several requests so that they arrive at the same moment. */
  async sendAtOnce(list: readonly (readonly [Operation, Change?])[]): Promise<Answer[]> {
    this.#requests += list.length;
    const outgoing = list.map(([operation, change]) => this.compose(operation, change));
    const answers = await exchangeAtOnce(outgoing, this.#settings.timeoutMs);
    const throttled = answers.find(({ status }) => status === 429);
    if (throttled && !isInProgress(this.#settings.declared, throttled)) {
      await this.#waitOut(throttled, 0);
      throw new CannotTell('the API limits the rate (429): it lets no two requests in at once');
    }
    return answers;
  }

  /** Sends a request whose answer is not read. */
  leave(operation: Operation, when: Departure, change?: Change): Promise<void> {
    this.#requests += 1;
    return leave(this.compose(operation, change), when, this.#settings.timeoutMs);
  }

  /** The preflight of a browser. */
  preflight(names: string): Promise<Answer> {
    const { url, method, origin = '', timeoutMs } = this.#settings;
    this.#requests += 1;
    const headers = {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': names,
    };
    return exchange({ url, method: 'OPTIONS', headers, body: '' }, timeoutMs);
  }

  async #waitOut({ headers }: Answer, times: number): Promise<void> {
    const { maxWaitMs } = this.#settings;
    const asked = parseRetryAfter(headers['retry-after'], {
      nowMs: systemClock.now(),
      dateHeader: headers['date'],
    });
    const delayMs = asked ?? 1000 * 2 ** times;
    if (delayMs > maxWaitMs || times > 5)
      throw new CannotRun(
        `The API limits the rate (429) and asks to wait ${Math.ceil(delayMs / 1000)} s. ` +
          `Run the check later, or allow such a wait with --max-wait ${Math.ceil(delayMs / 1000)}s.`,
      );
    await wait(delayMs);
  }
}
