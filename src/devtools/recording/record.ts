import { callApp, notifyApp } from '../../core/lib/input/callback.ts';
import type { Readable } from '../../core/lib/store.ts';
import { originOf } from '../../core/lib/input/url.ts';
import {
  instanceOfSteady,
  operationOf,
  reportOf,
  targetOf,
  watchOrigins,
  type Instance,
  type Steadfetch,
} from '../../core/internal.ts';
import type { OutboxState } from '../../outbox/state.ts';
import { subscribeInstance, type TelemetryEvent } from '../../telemetry/subscribe-all.ts';
import { placeOf } from '../../telemetry/words.ts';
import { inspectOrigins } from '../inspect.ts';
import { decidingOptions } from '../levels.ts';
import { type RecordedError, type RecordedEvent, writeRecording } from './recording.ts';

/** The options of {@link record}. */
export interface RecordOptions {
  /** An outbox whose entries are recorded, too. @default none */
  readonly outbox?: Readable<OutboxState> | undefined;
  /** The number of newest events to keep. @default 2000 */
  readonly maxEvents?: number | undefined;
}

/** The events since the recording began, oldest first. */
export interface Recorder extends Readable<readonly RecordedEvent[]> {
  /** The recording as text, which the Log of the devtools can import. */
  readonly write: () => string;
  readonly clear: () => void;
  readonly stop: () => void;
}

/** The minimum time between two notifications of listeners. */
const notifyMs = 100;

/**
 * Records events for a bug report: the Log of the devtools imports the text that `write()` returns, and
 * replays it. Works in production, too. The text contains query keys and the paths of URLs, but no query
 * strings, headers or bodies.
 *
 * @throws TypeError if the first argument is not from `createSteadfetch`.
 *
 * @example
 * ```ts
 * import { createSteadfetch } from 'steadfetch';
 * import { record } from 'steadfetch/devtools';
 *
 * const steady = createSteadfetch();
 * const recorder = record(steady);
 * export const attachment = () => new Blob([recorder.write()], { type: 'application/json' });
 * ```
 */
export function record(steady: Steadfetch, options?: RecordOptions): Recorder {
  const instance = instanceOfSteady(steady, 'record');
  return recordInstance(instance, options);
}

/** The same for an instance's internals. */
export function recordInstance(
  instance: Instance,
  { outbox, maxEvents = 2000 }: RecordOptions = {},
): Recorder {
  const { wall, origins } = instance;
  const listeners = new Set<() => void>();
  let events: RecordedEvent[] = [];
  let shownEvents: readonly RecordedEvent[] | undefined = events;
  let known = '';
  let timer: unknown;

  /** Records an inspection if anything but the time has changed. */
  const capture = (): void => {
    const inspection = inspectOrigins(instance);
    const { at, ...rest } = inspection;
    const text = JSON.stringify(rest);
    if (text === known) return;
    known = text;
    push({ type: 'inspection', at, inspection });
  };
  const push = (event: RecordedEvent): void => {
    events.push(event);
    if (events.length > maxEvents * 1.1) events = events.slice(-maxEvents);
    shownEvents = undefined;
  };
  const notifySoon = (): void => {
    timer ??= wall.setTimeout(() => {
      timer = undefined;
      capture();
      for (const listener of listeners) notifyApp(listener, undefined);
    }, notifyMs);
  };
  const add = (event: TelemetryEvent): void => {
    push(toRecord(event, instance));
    notifySoon();
  };
  const stops = [subscribeInstance(instance, add, { outbox }), watchOrigins(origins, notifySoon)];
  const getState = (): readonly RecordedEvent[] => (shownEvents ??= events.slice());
  return {
    getState,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    write() {
      capture();
      return writeRecording(getState());
    },
    clear() {
      events = [];
      known = '';
      shownEvents = undefined;
      notifySoon();
    },
    stop() {
      for (const stop of stops) stop();
      wall.clearTimeout(timer);
    },
  };
}

/** The event without parts that cannot be serialised. */
function toRecord(event: TelemetryEvent, instance: Instance): RecordedEvent {
  switch (event.type) {
    case 'request:start':
    case 'request:end': {
      const { method, url } = event;
      const { endpoint } = targetOf(method, url, instance.context.findApi(url));
      return { ...event, url: plainUrl(url), place: { origin: originOf(url), endpoint } };
    }
    case 'attempt:end':
      return { ...event, error: plainError(event.error) };
    case 'decision': {
      const { error, failure, decision, url } = event;
      const report = reportOf(error, event.at);
      const operation = operationOf(report);
      return {
        ...event,
        url: url === undefined ? undefined : plainUrl(url),
        error: plainError(error),
        options:
          operation &&
          decidingOptions(failure, decision, operation, report, instance.context.policy),
      };
    }
    default:
      return event;
  }
}

/** Without credentials and query string, and without the content of a `data:` URL, which may be private. */
const plainUrl = (url: string): string => placeOf(url, false).url;

function plainError(error: unknown): RecordedError | undefined {
  if (error === undefined) return undefined;
  // The error may be any value, with getters that throw.
  return {
    name: callApp(() => (error as Error).name, isString) ?? 'Error',
    message: callApp(() => (error as Error).message, isString) ?? 'It has no message.',
  };
}

const isString = (value: unknown): value is string => typeof value === 'string';
