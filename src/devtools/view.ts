import { keyText } from '../lib/json.ts';
import type { OperationRef } from '../policy/operation.ts';
import type { InspectedOrigin, OriginInspection } from './inspect.ts';
import type { RecordedEvent } from './recording/recording.ts';

/** An event of an operation. */
export type OperationEvent = Extract<RecordedEvent, { readonly operation: OperationRef }>;

/** One operation, as reconstructed from its events. */
export interface OperationView {
  readonly id: number;
  readonly kind: OperationRef['kind'];
  readonly queryKey: readonly unknown[] | undefined;
  label: string;
  readonly startedAt: number;
  endedAt: number | undefined;
  attempt: number;
  maxAttempts: number | undefined;
  status: 'sending' | 'waiting' | 'paused' | 'succeeded' | 'failed' | 'cancelled' | 'superseded';
  /** The reason of its status, as the code in the events. */
  reason: string | undefined;
  retryAt: number | undefined;
  probedBy: 'another-tab' | undefined;
  requests: number;
  /** The number of attempts that were probes and failed: they use up no retry. */
  probes: number;
  isProbe: boolean;
  readonly events: OperationEvent[];
}

/** The state that the panel shows at one moment. */
export interface View {
  readonly at: number;
  /** The latest inspection up to that moment. */
  readonly inspection: OriginInspection | undefined;
  /** Newest first. */
  readonly operations: readonly OperationView[];
  readonly events: readonly RecordedEvent[];
}

/** The view of a recording at a moment. Later events are left out. */
export function viewAt(all: readonly RecordedEvent[], at: number): View {
  const operations = new Map<string, OperationView>();
  const events: RecordedEvent[] = [];
  let inspection: OriginInspection | undefined;
  for (const event of all) {
    if (event.at > at) continue;
    events.push(event);
    if (event.type === 'inspection') ({ inspection } = event);
    else if ('operation' in event) follow(operations, event);
  }
  return { at, inspection, operations: [...operations.values()].toReversed(), events };
}

/** An outbox entry keeps its number across reloads, so its start is part of its name. */
const nameOf = ({ id, startedAt }: OperationRef): string => `${id} ${startedAt}`;

function follow(operations: Map<string, OperationView>, event: OperationEvent): void {
  const { operation: ref, at } = event;
  const name = nameOf(ref);
  let view = operations.get(name);
  if (!view) operations.set(name, (view = open(event)));
  view.events.push(event);
  view.attempt = Math.max(view.attempt, ref.attempt);
  switch (event.type) {
    case 'attempt:start':
      return show(view, 'sending');
    case 'request:start':
      view.requests++;
      // Before its first request, a mutation or a call has no other label.
      if (view.label === view.kind) view.label = placeOf(event);
      return show(view, 'sending');
    case 'pause:start':
      view.probedBy = event.probedBy;
      return show(view, 'paused', event.reason, event.retryAt);
    case 'pause:end':
      view.isProbe = event.result === 'probe';
      return view.status === 'paused' ? show(view, 'sending') : undefined;
    case 'request:end':
      // A lone request emits no other end when it succeeds.
      if (view.kind === 'call' && isAlone(view) && event.outcome.kind === 'ok')
        finish(view, 'succeeded', at);
      return;
    case 'decision': {
      const { decision, maxRetries } = event;
      if (view.isProbe) view.probes++;
      view.isProbe = false;
      const trials = maxRetries > 0 ? view.probes : 0;
      view.maxAttempts = maxRetries < Infinity ? maxRetries + 1 + trials : undefined;
      if (decision.kind === 'retry')
        return show(view, 'waiting', decision.reason, decision.retryAt);
      finish(view, 'failed', at);
      view.reason = decision.reason;
      return;
    }
    case 'operation:end': {
      const { reason } = view;
      finish(view, event.result, at);
      if (event.result === 'failed') view.reason = reason;
      return;
    }
    default:
  }
}

const isAlone = ({ events }: OperationView): boolean =>
  !events.some(({ type }) => type === 'operation:start' || type === 'attempt:start');

function open(event: OperationEvent): OperationView {
  const { id, kind, queryKey, startedAt, attempt } = event.operation;
  return {
    id,
    kind,
    queryKey,
    label: queryKey ? keyText(queryKey) : placeOf(event),
    startedAt,
    endedAt: undefined,
    attempt,
    maxAttempts: undefined,
    status: 'sending',
    reason: undefined,
    retryAt: undefined,
    probedBy: undefined,
    requests: 0,
    probes: 0,
    isProbe: false,
    events: [],
  };
}

function placeOf(event: OperationEvent): string {
  if (!('url' in event) || event.url === undefined) return event.operation.kind;
  return `${event.method} ${pathOf(event.url)}`;
}

/** Removes the origin of a URL. */
export const pathOf = (url: string): string => url.replace(/^[a-z][\w+.-]*:\/\/[^/]*/i, '') || url;

function show(
  view: OperationView,
  status: OperationView['status'],
  reason?: string,
  retryAt?: number,
): void {
  Object.assign(view, { status, reason, retryAt, endedAt: undefined });
}

function finish(view: OperationView, status: OperationView['status'], at: number): void {
  show(view, status);
  view.endedAt = at;
}

/** The state of an origin or endpoint during one cell of its strip. */
export type Cell = 'none' | 'ok' | 'limited' | 'failed' | 'down';

const worst: readonly Cell[] = ['none', 'ok', 'limited', 'failed', 'down'];
const stripMs = 120_000;
const cellMs = 2000;

/** The last two minutes of an origin or of one endpoint, oldest first. */
export function stripOf({ events, at }: View, origin: string, endpoint?: string): readonly Cell[] {
  const count = stripMs / cellMs;
  const cells: Cell[] = Array.from({ length: count }, () => 'none');
  // Cells keep their place: a new one starts every two seconds.
  const endsAt = Math.ceil((at + 1) / cellMs) * cellMs;
  const paint = (from: number, to: number, cell: Cell): void => {
    const first = Math.max(0, Math.floor((from - endsAt) / cellMs) + count);
    const last = Math.min(count - 1, Math.floor((to - endsAt) / cellMs) + count);
    for (let index = first; index <= last; index++)
      if (worst.indexOf(cell) > worst.indexOf(cells[index] ?? 'none')) cells[index] = cell;
  };
  let downAt: number | undefined;
  for (const event of events) {
    if (event.type === 'request:end' && event.place?.origin === origin) {
      const { outcome, place } = event;
      if (endpoint !== undefined && place.endpoint !== endpoint) continue;
      const isLimited = outcome.kind === 'http' && outcome.status === 429;
      const isFine = outcome.kind === 'ok' || (outcome.kind === 'http' && outcome.status < 429);
      paint(event.at, event.at, isFine ? 'ok' : isLimited ? 'limited' : 'failed');
    }
    if (event.type !== 'outage:start' && event.type !== 'outage:end') continue;
    if (event.origin !== origin || (event.endpoint ?? endpoint) !== endpoint) continue;
    if (event.type === 'outage:start') downAt ??= event.at;
    else {
      paint(event.at - event.downMs, event.at, 'down');
      downAt = undefined;
    }
  }
  if (downAt !== undefined) paint(downAt, at, 'down');
  return cells;
}

/** The endpoints of an origin that appear in the recording, but not in the inspection. */
export function endpointsSeen({ events }: View, { origin, endpoints }: InspectedOrigin): string[] {
  const known = new Set(endpoints.map(({ endpoint }) => endpoint));
  const seen = new Set<string>();
  for (const event of events)
    if (event.type === 'request:start' && event.place?.origin === origin)
      seen.add(event.place.endpoint);
  return [...seen].filter((endpoint) => !known.has(endpoint));
}
