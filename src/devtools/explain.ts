import { keyText } from '../core/lib/json.ts';
import type { OperationResult } from '../core/internal.ts';
import { byType } from '../telemetry/subscribe-all.ts';
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
export const explain: (event: OperationEvent) => Explained | undefined = byType<
  OperationEvent,
  Explained | undefined
>({
  'attempt:start': ({ operation: { attempt } }) =>
    attempt > 1 ? plain(`Attempt ${attempt}`) : undefined,
  'request:start': ({ method, url }) => plain('Request sent', `${method} ${pathOf(url)}`),
  'request:end': ({ method, outcome }) => {
    if (outcome.kind === 'ok') return plain(`Answer ${outcome.status}`, '', 'good');
    const isUnsure = outcome.processed === 'unknown' && method !== 'GET';
    const detail = isUnsure ? 'The server may have done it.' : '';
    return plain(`Failed: ${describeOutcome(outcome)}`, detail, 'bad');
  },
  'pause:start': ({ reason, probedBy }) => {
    const other = probedBy ? 'Another tab probes, and tells this one. ' : '';
    return plain(`Paused: ${reasonOf(reason)}`, `${other}A pause uses up no retry.`, 'warn');
  },
  'pause:end': ({ result }) => pauseEnds[result],
  decision: (event) => explainDecision(event),
  'operation:end': ({ result }) => operationEnds[result],
});

const pauseEnds: Readonly<Record<EventOf<'pause:end'>['result'], Explained>> = {
  sent: plain('The pause is over'),
  probe: plain(
    'Sent as a probe',
    'Finds out, for all waiting requests, whether the server is back.',
  ),
  expired: plain('The pause has lasted for longer than maxPauseMs', '', 'bad'),
  dropped: plain('No longer wanted'),
};
const operationEnds: Readonly<Record<OperationResult, Explained>> = {
  succeeded: plain('Succeeded', '', 'good'),
  failed: plain('Failed', '', 'bad'),
  cancelled: plain('Cancelled', 'By the user, or by the app.'),
  superseded: plain('Superseded', 'A newer fetch of the same query took its place.'),
};

type EventOf<Type> = Extract<OperationEvent, { readonly type: Type }>;

function explainDecision({
  decision,
  operation: { attempt },
  maxRetries,
  options = [],
}: EventOf<'decision'>): Explained {
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

type StateEvent = Exclude<RecordedEvent, OperationEvent>;

const scopeOf = ({ origin, endpoint }: Extract<StateEvent, { readonly origin: string }>): string =>
  endpoint ?? origin;

const stateLine = byType<StateEvent, string>({
  inspection: ({ inspection: { origins, isOffline } }) => {
    const bad = origins.filter(({ status }) => status !== 'up');
    const all = bad.map(({ origin, status }) => `${origin} ${status}`).join(', ');
    return `${isOffline ? 'offline; ' : ''}${all || 'all origins are up'}`;
  },
  'outage:start': (event) => `${scopeOf(event)} is down`,
  'outage:end': (event) => `${scopeOf(event)} is up again, after ${duration(event.downMs)}`,
  'leader:start': (event) => `this tab probes ${scopeOf(event)} for all`,
  'leader:end': (event) => `this tab no longer probes ${scopeOf(event)} for all`,
  connectivity: ({ status }) => `the network is ${status}`,
  outbox: ({ due, waiting, sending, paused, dead }) =>
    `${due} due, ${waiting} waiting, ${sending} sending, ${paused} paused, ${dead} dead`,
});

/** A line of the log. */
export function lineOf(event: RecordedEvent): string {
  if (!('operation' in event)) return stateLine(event) ?? '';
  const { title, detail } = explain(event) ?? {};
  const { queryKey } = event.operation;
  const what = queryKey ? `${keyText(queryKey)} ` : '';
  return `${what}${title ?? begun(event)}${detail ? `. ${detail}` : ''}`;
}
