import { checkNames, checkValue, isFunction } from '../lib/input/check.ts';
import { isBoolean } from '../lib/input/callback.ts';
import { plainKey } from '../lib/json.ts';
import type { ConnectivityState } from '../connectivity/connectivity.ts';
import type { OperationResult, SteadfetchEvent } from '../operation/events.ts';
import type { StopReason } from '../policy/decide.ts';
import type { OperationRef, RetryReason } from '../policy/operation.ts';
import type { Outcome, PauseReason } from '../policy/outcome.ts';
import type { StateEvent, TelemetryEvent } from './subscribe-all.ts';
import { describeOutcome, pauses, placeOf, reasons } from './words.ts';

/** How much an event matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What lines are written to: the console, or any logger with these four methods. */
export type LogConsole = Readonly<Record<LogLevel, (line: string, record: LogRecord) => void>>;

/** What is logged, and where. */
export interface ConsoleLoggerOptions {
  /** The least level that is written. @default 'info' */
  readonly level?: LogLevel | undefined;
  /** What lines are written to. @default the console of this environment */
  readonly console?: LogConsole | undefined;
  /** Whether URLs have their query string, which may contain personal data. @default false */
  readonly showQueryStrings?: boolean | undefined;
  /** Whether records have the key of the query, which may contain personal data. @default false */
  readonly showQueryKeys?: boolean | undefined;
}

/** An event as plain data, for a log that is searched. It has no body, no header and no idempotency key. */
export interface LogRecord {
  readonly event: TelemetryEvent['type'];
  /** When it happened, in epoch milliseconds. */
  readonly at: number;
  /** The `id` of its operation. */
  readonly operation?: number | undefined;
  readonly kind?: OperationRef['kind'] | undefined;
  /** The attempt under way or just ended, counted from 1. */
  readonly attempt?: number | undefined;
  /** Only with `showQueryKeys`, and as JSON has it. */
  readonly queryKey?: readonly unknown[] | undefined;
  /** The number of the request, within its instance. */
  readonly request?: number | undefined;
  readonly method?: string | undefined;
  /** Without credentials and, without `showQueryStrings`, without its query string. */
  readonly url?: string | undefined;
  readonly origin?: string | undefined;
  /** What the attempt showed. */
  readonly outcome?: Outcome['kind'] | undefined;
  /** That of the answer. */
  readonly status?: number | undefined;
  /** The server's Retry-After, in milliseconds from receipt. */
  readonly retryAfterMs?: number | undefined;
  /** Why it is retried, is not, or is paused. */
  readonly reason?: RetryReason | StopReason | PauseReason | undefined;
  /** How many retries the policy allows. */
  readonly maxRetries?: number | undefined;
  /** How long the wait before the next attempt is, in milliseconds. */
  readonly delayMs?: number | undefined;
  /** When it is tried next, in epoch milliseconds. */
  readonly retryAt?: number | undefined;
  /** How the operation, or the pause, ended. */
  readonly result?: OperationResult | 'sent' | 'probe' | 'expired' | 'dropped' | undefined;
  /** What is down or probed; undefined for all of its origin. */
  readonly endpoint?: string | undefined;
  /** How long the outage was, in milliseconds. */
  readonly downMs?: number | undefined;
  readonly connectivity?: ConnectivityState['status'] | undefined;
  /** Entries of the outbox that cannot be delivered, and those that still can. */
  readonly dead?: number | undefined;
  readonly left?: number | undefined;
}

type Details = Omit<LogRecord, 'event' | 'at' | 'operation' | 'kind' | 'attempt' | 'queryKey'>;

/** What is written of an event. */
interface Entry {
  readonly level: LogLevel;
  readonly text: string;
  readonly details?: Details;
}

const operation = 'consoleLogger';
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/**
 * A listener for `steady.subscribe`, or for `subscribeAll`, that writes a line and a plain object for each
 * event: retries and outages as warnings, what has failed for good as an error, pauses as information, and
 * all the rest at `debug`. A pause is written once, and again when its reason changes.
 *
 * It writes no bodies, no headers, no idempotency keys, no credentials, and neither query strings nor
 * query keys unless you ask for them.
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * steady.subscribe(consoleLogger({ level: 'warn' }));
 * // [steadfetch] query 7, attempt 1: GET https://api.example/items failed: 503. Next attempt in 812 ms
 * // (at most 3 retries): the server is unavailable.
 * ```
 */
export function consoleLogger(options: ConsoleLoggerOptions = {}): (event: TelemetryEvent) => void {
  if (process.env.NODE_ENV !== 'production')
    checkNames(operation, options, ['level', 'console', 'showQueryStrings', 'showQueryKeys']);
  const given = <Name extends keyof ConsoleLoggerOptions>(
    name: Name,
    isRight: (value: unknown) => boolean,
    allowed: string,
  ): ConsoleLoggerOptions[Name] => checkValue(operation, name, options[name], isRight, allowed);
  const level =
    given('level', (one) => levels.includes(one as LogLevel), `one of ${levels.join(', ')}`) ??
    'info';
  const target =
    given('console', isConsole, 'an object with the functions debug, info, warn and error') ??
    console;
  const hasQuery = given('showQueryStrings', isBoolean, 'true or false') ?? false;
  const hasKey = given('showQueryKeys', isBoolean, 'true or false') ?? false;
  const written = levels.slice(levels.indexOf(level));
  /** Of the operations that are paused. */
  const pausedFor = new Map<number, PauseReason>();
  let lastDead = 0;

  const write = (event: TelemetryEvent, who: string, entry: Entry, shown: Partial<LogRecord>) => {
    if (!written.includes(entry.level)) return;
    const record: LogRecord = { event: event.type, at: event.at, ...shown, ...entry.details };
    target[entry.level](`[steadfetch] ${who}${entry.text}.`, record);
  };
  return (event) => {
    if (!('operation' in event)) {
      const entry = describeState(event, lastDead);
      if (event.type === 'outbox') lastDead = event.dead;
      return write(event, '', entry, {});
    }
    const { id, kind, attempt, queryKey } = event.operation;
    const isRepeated = event.type === 'pause:start' && pausedFor.get(id) === event.reason;
    if (event.type === 'pause:start') pausedFor.set(id, event.reason);
    else if (event.type === 'pause:end' || event.type === 'operation:end') pausedFor.delete(id);
    const entry = isRepeated ? undefined : describe(event, hasQuery);
    const shown = { operation: id, kind, attempt, ...(hasKey && { queryKey: plainKey(queryKey) }) };
    if (entry) write(event, `${kind} ${id}, attempt ${attempt}: `, entry, shown);
  };
}

const isConsole = (value: unknown): boolean =>
  levels.every((level) => isFunction((value as Partial<LogConsole> | null)?.[level]));

function describe(event: SteadfetchEvent, hasQuery: boolean): Entry | undefined {
  switch (event.type) {
    case 'operation:start':
      return { level: 'debug', text: 'begins' };
    case 'operation:end':
      return { level: 'debug', text: event.result, details: { result: event.result } };
    case 'request:start':
    case 'request:end': {
      const { request, method } = event;
      const { origin, url } = placeOf(event.url, hasQuery);
      const sent = { request, method, url, origin };
      const text = `${method} ${url}`;
      if (event.type === 'request:start') return { level: 'debug', text, details: sent };
      const { outcome } = event;
      return {
        level: 'debug',
        text: `${text}: ${describeOutcome(outcome)}`,
        details: { ...sent, ...numbersOf(outcome) },
      };
    }
    case 'pause:start': {
      const { reason, retryAt } = event;
      const until = retryAt === undefined ? '' : `; next attempt in ${retryAt - event.at} ms`;
      const details = { reason, retryAt };
      return { level: 'info', text: `paused: ${pauses[reason]}${until}`, details };
    }
    case 'pause:end': {
      const { result } = event;
      return { level: 'info', text: `the pause is over: ${result}`, details: { result } };
    }
    case 'decision':
      return describeDecision(event, hasQuery);
    default:
      // Its decision says more.
      return undefined;
  }
}

function describeState(event: StateEvent, lastDead: number): Entry {
  switch (event.type) {
    case 'outage:start':
    case 'outage:end': {
      const { origin, endpoint } = event;
      const what = endpoint === undefined ? origin : `${endpoint} of ${origin}`;
      if (event.type === 'outage:start')
        return { level: 'warn', text: `${what} is down`, details: { origin, endpoint } };
      const { downMs } = event;
      const details = { origin, endpoint, downMs };
      return { level: 'info', text: `${what} is up again after ${downMs} ms`, details };
    }
    case 'leader:start':
    case 'leader:end': {
      const { type, origin, endpoint } = event;
      const what = endpoint === undefined ? origin : `${endpoint} of ${origin}`;
      const text = `this tab ${type === 'leader:start' ? 'probes' : 'no longer probes'} ${what} for all`;
      return { level: 'debug', text, details: { origin, endpoint } };
    }
    case 'connectivity': {
      const { status } = event;
      return { level: 'info', text: `the network is ${status}`, details: { connectivity: status } };
    }
    default: {
      const { dead } = event;
      const left = event.due + event.waiting + event.sending + event.paused;
      const level = dead > lastDead ? 'error' : 'debug';
      const text = `the outbox has ${left} entries to deliver and ${dead} dead letters`;
      return { level, text, details: { dead, left } };
    }
  }
}

function describeDecision(
  { decision, failure, maxRetries, method, url }: Extract<SteadfetchEvent, { type: 'decision' }>,
  hasQuery: boolean,
): Entry {
  const { kind, reason, retryAt } = decision;
  const place = url === undefined ? undefined : placeOf(url, hasQuery);
  const what = place ? `${method} ${place.url} failed` : 'failed';
  const details = { method, ...place, ...numbersOf(failure), reason, maxRetries, retryAt };
  const failed = `${what}: ${describeOutcome(failure)}`;
  if (kind === 'retry') {
    const { delayMs } = decision;
    const next = `Next attempt in ${delayMs} ms (at most ${maxRetries} retries)`;
    const text = `${failed}. ${next}: ${reasons[reason]}`;
    return { level: 'warn', text, details: { ...details, delayMs } };
  }
  const isWanted = reason === 'aborted' || reason === 'cancelled';
  const text = `${failed}. No further attempt: ${reasons[reason]}`;
  return { level: isWanted ? 'debug' : 'error', text, details };
}

function numbersOf(outcome: Outcome): Pick<Details, 'outcome' | 'status' | 'retryAfterMs'> {
  return {
    outcome: outcome.kind,
    status: 'status' in outcome ? outcome.status : undefined,
    retryAfterMs: outcome.kind === 'http' ? outcome.retryAfterMs : undefined,
  };
}
