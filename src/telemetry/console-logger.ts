import { checkNames, checkValue, isFunction } from '../core/lib/input/check.ts';
import { isBoolean } from '../core/lib/input/callback.ts';
import { plainKey } from '../core/lib/json.ts';
import type {
  ConnectivityState,
  OperationRef,
  OperationResult,
  Outcome,
  PauseReason,
  RetryReason,
  SteadfetchEvent,
  StopReason,
} from '../core/internal.ts';
import type { StateEvent, TelemetryEvent } from './subscribe-all.ts';
import { describeOutcome, pauses, placeOf, reasons } from './words.ts';
import { inDevelopment } from '../core/lib/development.ts';

/** The severity of an event. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The target of log lines: the console, or any logger with these four methods. */
export type LogConsole = Readonly<Record<LogLevel, (line: string, record: LogRecord) => void>>;

/** The options of {@link consoleLogger}. */
export interface ConsoleLoggerOptions {
  /** The lowest level that is written. @default 'info' */
  readonly level?: LogLevel | undefined;
  /** The target of the lines. @default the console of this environment */
  readonly console?: LogConsole | undefined;
  /** Whether URLs keep their query string, which may contain personal data. @default false */
  readonly showQueryStrings?: boolean | undefined;
  /** Whether records contain the query key, which may contain personal data. @default false */
  readonly showQueryKeys?: boolean | undefined;
}

/** An event as plain data, for searchable logs. It contains no body, header or idempotency key. */
export interface LogRecord {
  readonly event: TelemetryEvent['type'];
  /** When it happened, in epoch milliseconds. */
  readonly at: number;
  /** The `id` of its operation. */
  readonly operation?: number | undefined;
  readonly kind?: OperationRef['kind'] | undefined;
  /** The attempt in progress or just ended, counted from 1. */
  readonly attempt?: number | undefined;
  /** The query key in its JSON form. Only with `showQueryKeys`. */
  readonly queryKey?: readonly unknown[] | undefined;
  /** The number of the request within its instance. */
  readonly request?: number | undefined;
  readonly method?: string | undefined;
  /** Without credentials and, unless `showQueryStrings` is set, without the query string. */
  readonly url?: string | undefined;
  readonly origin?: string | undefined;
  /** The kind of outcome of the attempt. */
  readonly outcome?: Outcome['kind'] | undefined;
  /** The status of the answer. */
  readonly status?: number | undefined;
  /** The server's Retry-After, in milliseconds from receipt. */
  readonly retryAfterMs?: number | undefined;
  /** Why it is retried, stopped or paused. */
  readonly reason?: RetryReason | StopReason | PauseReason | undefined;
  /** How many retries the policy allows. */
  readonly maxRetries?: number | undefined;
  /** How long it waits before the next attempt, in milliseconds. */
  readonly delayMs?: number | undefined;
  /** When the next attempt starts, in epoch milliseconds. */
  readonly retryAt?: number | undefined;
  /** How the operation or the pause ended. */
  readonly result?: OperationResult | 'sent' | 'probe' | 'expired' | 'dropped' | undefined;
  /** The endpoint that is down or probed; undefined for the whole origin. */
  readonly endpoint?: string | undefined;
  /** How long the outage lasted, in milliseconds. */
  readonly downMs?: number | undefined;
  readonly connectivity?: ConnectivityState['status'] | undefined;
  /** The outbox entries that cannot be delivered, and those that still can. */
  readonly dead?: number | undefined;
  readonly left?: number | undefined;
}

type Details = Omit<LogRecord, 'event' | 'at' | 'operation' | 'kind' | 'attempt' | 'queryKey'>;

/** The line for an event. */
interface Entry {
  readonly level: LogLevel;
  readonly text: string;
  readonly details?: Details;
}

const operation = 'consoleLogger';
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/**
 * Creates a listener for `steady.subscribe` or `subscribeAll` that writes a line and a plain object for each
 * event. Retries and outages are warnings, final failures errors, pauses info, and everything else debug. A
 * pause is written once, and again when its reason changes.
 *
 * It writes no bodies, headers, idempotency keys or credentials, and no query strings or query keys unless
 * you ask for them.
 *
 * @throws TypeError for an invalid option.
 *
 * @example
 * ```ts
 * steady.subscribe(consoleLogger({ level: 'warn' }));
 * // [steadfetch] query 7, attempt 1: GET https://api.example/items failed: 503. Next attempt in 812 ms
 * // (at most 3 retries): the server is unavailable.
 * ```
 */
export function consoleLogger(options: ConsoleLoggerOptions = {}): (event: TelemetryEvent) => void {
  inDevelopment(() =>
    checkNames(operation, options, ['level', 'console', 'showQueryStrings', 'showQueryKeys']),
  );
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
  /** The paused operations, with their reasons. */
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
      const leftMs = retryAt === undefined ? 0 : wholeMs(retryAt - event.at);
      const until = retryAt === undefined ? '' : `; next attempt in ${Math.max(0, leftMs)} ms`;
      const details = { reason, retryAt: retryAt && wholeMs(retryAt) };
      return { level: 'info', text: `paused: ${pauses[reason]}${until}`, details };
    }
    case 'pause:end': {
      const { result } = event;
      return { level: 'info', text: `the pause is over: ${result}`, details: { result } };
    }
    case 'decision':
      return describeDecision(event, hasQuery);
    default:
      // The decision that follows has the details.
      return undefined;
  }
}

function describeState(event: StateEvent, lastDead: number): Entry {
  switch (event.type) {
    case 'outage:start':
    case 'outage:end':
    case 'leader:start':
    case 'leader:end': {
      const { type, origin, endpoint } = event;
      const what = endpoint === undefined ? origin : `${endpoint} of ${origin}`;
      const details = { origin, endpoint };
      if (type === 'outage:start') return { level: 'warn', text: `${what} is down`, details };
      if (type === 'outage:end') {
        const { downMs } = event;
        const text = `${what} is up again after ${downMs} ms`;
        return { level: 'info', text, details: { ...details, downMs } };
      }
      const text = `this tab ${type === 'leader:start' ? 'probes' : 'no longer probes'} ${what} for all`;
      return { level: 'debug', text, details };
    }
    case 'connectivity': {
      const { status } = event;
      return { level: 'info', text: `the network is ${status}`, details: { connectivity: status } };
    }
    default: {
      const { dead } = event;
      const left = event.due + event.waiting + event.sending + event.paused;
      const level = dead > lastDead ? 'error' : 'debug';
      const text = `the outbox has ${counted(left, 'entry', 'entries')} to deliver and ${counted(dead, 'dead letter', 'dead letters')}`;
      return { level, text, details: { dead, left } };
    }
  }
}

function describeDecision(
  { decision, failure, maxRetries, method, url }: Extract<SteadfetchEvent, { type: 'decision' }>,
  hasQuery: boolean,
): Entry {
  const { kind, reason } = decision;
  const retryAt = decision.retryAt && wholeMs(decision.retryAt);
  const place = url === undefined ? undefined : placeOf(url, hasQuery);
  const what = place ? `${method} ${place.url} failed` : 'failed';
  const details = { method, ...place, ...numbersOf(failure), reason, maxRetries, retryAt };
  const failed = `${what}: ${describeOutcome(failure)}`;
  if (kind === 'retry') {
    const delayMs = wholeMs(decision.delayMs);
    // Without a delay of its own, it is paused while its endpoint is down.
    const when = delayMs > 0 ? `in ${delayMs} ms` : 'when its origin allows it';
    const text = `${failed}. Next attempt ${when} (at most ${maxRetries} retries): ${reasons[reason]}`;
    return { level: 'warn', text, details: { ...details, delayMs } };
  }
  const isWanted = reason === 'aborted' || reason === 'cancelled';
  const text = `${failed}. No further attempt: ${reasons[reason]}`;
  return { level: isWanted ? 'debug' : 'error', text, details };
}

const counted = (count: number, one: string, more: string): string =>
  `${count} ${count === 1 ? one : more}`;

/** Jitter makes fractions, which a column of whole numbers refuses. */
const wholeMs = (ms: number): number => Math.ceil(ms);

function numbersOf(outcome: Outcome): Pick<Details, 'outcome' | 'status' | 'retryAfterMs'> {
  return {
    outcome: outcome.kind,
    status: 'status' in outcome ? outcome.status : undefined,
    retryAfterMs: outcome.kind === 'http' ? outcome.retryAfterMs : undefined,
  };
}
