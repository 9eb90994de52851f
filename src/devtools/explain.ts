import { keyText } from '../core/lib/json.ts';
import { describeOutcome, pauses, reasons } from '../telemetry/words.ts';
import type { DecidingOption } from './levels.ts';
import type { RecordedEvent } from './recording/recording.ts';
import { type OperationEvent, type OperationView, pathOf } from './view.ts';

/** The text about one step of an operation. */
export interface Explained {
  readonly title: string;
  readonly detail: string;
  readonly tone: 'plain' | 'good' | 'warn' | 'bad';
  readonly options: readonly DecidingOption[];
}

const plain = (
  title: string,
  detail = '',
  tone: Explained['tone'] = 'plain',
  options: readonly DecidingOption[] = [],
): Explained => ({ title, detail, tone, options });

/** Capitalises a text for the start of a sentence. */
export const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A duration in short form. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** The reason of a retry, an end or a pause, in words. */
export function reasonOf(reason: string): string {
  if (reason === 'hidden') return 'the tab is hidden';
  const words: Readonly<Record<string, string>> = { ...reasons, ...pauses };
  return words[reason] ?? reason;
}

/** A step of the timeline in words; undefined for a step without content of its own. */
export function explain(event: OperationEvent): Explained | undefined {
  switch (event.type) {
    case 'operation:start':
    case 'attempt:end':
      return undefined;
    case 'attempt:start':
      return event.operation.attempt > 1 ? plain(`Attempt ${event.operation.attempt}`) : undefined;
    case 'request:start':
      return plain('Request sent', `${event.method} ${pathOf(event.url)}`);
    case 'request:end': {
      const { outcome } = event;
      const isOk = outcome.kind === 'ok';
      const unsure = outcome.processed === 'unknown' ? ' The server may have done it.' : '';
      return plain(
        isOk ? `Answer ${outcome.status}` : `Failed: ${describeOutcome(outcome)}`,
        isOk || event.method === 'GET' ? '' : unsure.trim(),
        isOk ? 'good' : 'bad',
      );
    }
    case 'pause:start': {
      const { reason, probedBy } = event;
      const other = probedBy ? 'Another tab probes, and tells this one.' : '';
      return plain(
        `Paused: ${reasonOf(reason)}`,
        `${other} A pause uses up no retry.`.trim(),
        'warn',
      );
    }
    case 'pause:end':
      return {
        sent: plain('The pause is over'),
        probe: plain(
          'Sent as a probe',
          'Finds out, for all waiting requests, whether the server is back.',
        ),
        expired: plain('The pause has lasted for longer than maxPauseMs', '', 'bad'),
        dropped: plain('No longer wanted'),
      }[event.result];
    case 'decision':
      return explainDecision(event);
    case 'operation:end':
      return {
        succeeded: plain('Succeeded', '', 'good'),
        failed: plain('Failed', '', 'bad'),
        cancelled: plain('Cancelled', 'By the user, or by the app.'),
        superseded: plain('Superseded', 'A newer fetch of the same query took its place.'),
      }[event.result];
    default:
      return undefined;
  }
}

function explainDecision({
  decision,
  operation: { attempt },
  maxRetries,
  options = [],
}: Extract<OperationEvent, { readonly type: 'decision' }>): Explained {
  const why = upper(reasonOf(decision.reason));
  if (decision.kind === 'stop')
    return plain('Decision: no further attempt', `${why}.`, 'bad', options);
  // A failed probe uses up no retry.
  const count =
    maxRetries < Infinity && attempt <= maxRetries + 1
      ? `${attempt} of ${maxRetries + 1}`
      : `${attempt}`;
  const wait =
    decision.delayMs > 0
      ? `the next one starts in ${duration(decision.delayMs)}`
      : 'the next one starts when its origin allows it';
  return plain('Decision: retry', `${why}. Attempt ${count} failed; ${wait}.`, 'warn', options);
}

const states: Readonly<Record<OperationView['status'], string>> = {
  sending: 'Sending',
  waiting: 'Waiting',
  paused: 'Paused',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
  superseded: 'Superseded',
};

export const stateOf = ({ status }: Pick<OperationView, 'status'>): string => states[status];

function begun(event: OperationEvent): string {
  const { attempt } = event.operation;
  if (event.type === 'operation:start') return 'Begins';
  if (event.type !== 'attempt:end') return `Attempt ${attempt}`;
  return event.error
    ? `Attempt ${attempt} failed. ${event.error.message}`
    : `Attempt ${attempt} succeeded`;
}

/** A line of the log. */
export function lineOf(event: RecordedEvent): string {
  switch (event.type) {
    case 'inspection': {
      const { origins, isOffline } = event.inspection;
      const bad = origins.filter(({ status }) => status !== 'up');
      const all = bad.map(({ origin, status }) => `${origin} ${status}`).join(', ');
      return `${isOffline ? 'offline; ' : ''}${all || 'all origins are up'}`;
    }
    case 'outage:start':
      return `${event.endpoint ?? event.origin} is down`;
    case 'outage:end':
      return `${event.endpoint ?? event.origin} is up again, after ${duration(event.downMs)}`;
    case 'leader:start':
      return `this tab probes ${event.endpoint ?? event.origin} for all`;
    case 'leader:end':
      return `this tab no longer probes ${event.endpoint ?? event.origin} for all`;
    case 'connectivity':
      return `the network is ${event.status}`;
    case 'outbox': {
      const { due, waiting, sending, paused, dead } = event;
      return `${due} due, ${waiting} waiting, ${sending} sending, ${paused} paused, ${dead} dead`;
    }
    default: {
      const { title, detail } = explain(event) ?? {};
      const { queryKey } = event.operation;
      const what = queryKey ? `${keyText(queryKey)} ` : '';
      return `${what}${title ?? begun(event)}${detail ? `. ${detail}` : ''}`;
    }
  }
}
