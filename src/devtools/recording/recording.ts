import { plainKey, toJson } from '../../core/lib/json.ts';
import type { TelemetryEvent } from '../../telemetry/subscribe-all.ts';
import type { Inspection } from '../inspect.ts';
import type { DecidingOption } from '../levels.ts';
import { isEvent } from './shapes.ts';

/** An error in a recording. */
export interface RecordedError {
  readonly name: string;
  readonly message: string;
}

type Plain<E> = E extends { readonly error: unknown }
  ? Omit<E, 'error'> & { readonly error: RecordedError | undefined }
  : E;

/** An event in a recording: plain data, with URLs without query strings. */
export type RecordedEvent =
  | (Plain<TelemetryEvent> & {
      /** The origin and endpoint of a request. */
      readonly place?: { readonly origin: string; readonly endpoint: string } | undefined;
      /** The options behind a decision. */
      readonly options?: readonly DecidingOption[] | undefined;
    })
  /** An inspection, recorded whenever it changes. */
  | {
      readonly type: 'inspection';
      readonly at: number;
      readonly inspection: Omit<Inspection, 'operations'>;
    };

const format = 'steadfetch-recording';
const version = 1;

/** Writes a recording as text. */
export function writeRecording(events: readonly RecordedEvent[]): string {
  const plain = events.map((event) =>
    'operation' in event
      ? {
          ...event,
          operation: { ...event.operation, queryKey: plainKey(event.operation.queryKey) },
        }
      : event,
  );
  return JSON.stringify({ format, version, events: plain }, toJson, 1);
}

/**
 * Reads the events of a recording. Damaged events, and those of a newer version, are left out.
 *
 * @throws Error that says what is wrong with the text.
 */
export function readRecording(text: string): readonly RecordedEvent[] {
  let given: unknown;
  try {
    // JSON has neither undefined nor Infinity.
    given = JSON.parse(text, (_, part: unknown) => part ?? undefined);
  } catch {
    throw new Error('This is no recording: it is not JSON.');
  }
  const { format: kind, version: made, events } = Object(given) as Record<string, unknown>;
  if (kind !== format || !Array.isArray(events))
    throw new Error('This is no recording of steadfetch/devtools.');
  if (made !== version)
    throw new Error(`This recording has the version ${String(made)}, not ${version}.`);
  return (events as readonly RecordedEvent[])
    .filter(isEvent)
    .map((event) =>
      event.type === 'decision' ? { ...event, maxRetries: event.maxRetries ?? Infinity } : event,
    );
}
