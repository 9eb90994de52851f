import { keyText } from '../core/lib/json.ts';
import type { OperationRef } from '../core/internal.ts';
import type { InspectedOrigin, OriginInspection } from './inspect.ts';
import type { RecordedEvent } from './recording/recording.ts';

/** An event of an operation. */
export type OperationEvent = Extract<RecordedEvent, { readonly operation: OperationRef }>;

/** One operation, as reconstructed from its events. */
export interface OperationView {
  readonly id: number;
  readonly kind: OperationRef['kind'];
  readonly queryKey: readonly unknown[] | undefined;
  readonly label: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly attempt: number;
  readonly maxAttempts: number | undefined;
  readonly status:
    | 'sending'
    | 'waiting'
    | 'paused'
    | 'succeeded'
    | 'failed'
    | 'cancelled'
    | 'superseded';
  /** The reason of its status, as the code in the events. */
  readonly reason: string | undefined;
  readonly retryAt: number | undefined;
  readonly probedBy: 'another-tab' | undefined;
  readonly requests: number;
  /** The number of attempts that were probes and failed: they use up no retry. */
  readonly probes: number;
  readonly isProbe: boolean;
  readonly events: readonly OperationEvent[];
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
  const operations = new Map<string, [OperationEvent, ...OperationEvent[]]>();
  const events: RecordedEvent[] = [];
  let inspection: OriginInspection | undefined;
  for (const event of all) {
    if (event.at > at) continue;
    events.push(event);
    if (event.type === 'inspection') ({ inspection } = event);
    else if ('operation' in event) {
      const name = nameOf(event.operation);
      const known = operations.get(name);
      if (known) known.push(event);
      else operations.set(name, [event]);
    }
  }
  return { at, inspection, operations: [...operations.values()].map(viewOf).toReversed(), events };
}

/** An outbox entry keeps its number across reloads, so its start is part of its name. */
const nameOf = ({ id, startedAt }: OperationRef): string => `${id} ${startedAt}`;

function viewOf(events: readonly [OperationEvent, ...OperationEvent[]]): OperationView {
  const { id, kind, queryKey, startedAt } = events[0].operation;
  const first: OperationView = {
    id,
    kind,
    queryKey,
    label: queryKey ? keyText(queryKey) : placeOf(events[0]),
    startedAt,
    endedAt: undefined,
    attempt: 0,
    maxAttempts: undefined,
    status: 'sending',
    reason: undefined,
    retryAt: undefined,
    probedBy: undefined,
    requests: 0,
    probes: 0,
    isProbe: false,
    events,
  };
  const isAlone = !events.some(({ type }) => /^(?:operation|attempt):start$/.test(type));
  return events.reduce(
    (view, event) => ({
      ...view,
      attempt: Math.max(view.attempt, event.operation.attempt),
      ...changeOf(view, event, isAlone),
    }),
    first,
  );
}

/** The change of a view by the next event. `isAlone`: a request outside of `retry`, which emits no end if it succeeds. */
function changeOf(
  view: OperationView,
  event: OperationEvent,
  isAlone: boolean,
): Partial<OperationView> | undefined {
  const { at } = event;
  switch (event.type) {
    case 'attempt:start':
      return inStatus('sending');
    case 'request:start': {
      // Before its first request, a mutation or a call has no other label.
      const label = view.label === view.kind ? placeOf(event) : view.label;
      return { ...inStatus('sending'), label, requests: view.requests + 1 };
    }
    case 'pause:start':
      return { ...inStatus('paused', event.reason, event.retryAt), probedBy: event.probedBy };
    case 'pause:end':
      return {
        ...(view.status === 'paused' && inStatus('sending')),
        isProbe: event.result === 'probe',
      };
    case 'request:end':
      return view.kind === 'call' && isAlone && event.outcome.kind === 'ok'
        ? { ...inStatus('succeeded'), endedAt: at }
        : undefined;
    case 'decision': {
      const { decision, maxRetries } = event;
      const probes = view.probes + Number(view.isProbe);
      const trials = maxRetries > 0 ? probes : 0;
      const maxAttempts = maxRetries < Infinity ? maxRetries + 1 + trials : undefined;
      const state =
        decision.kind === 'retry'
          ? inStatus('waiting', decision.reason, decision.retryAt)
          : { ...inStatus('failed', decision.reason), endedAt: at };
      return { ...state, probes, isProbe: false, maxAttempts };
    }
    case 'operation:end': {
      const reason = event.result === 'failed' ? view.reason : undefined;
      return { ...inStatus(event.result, reason), endedAt: at };
    }
    default:
      return undefined;
  }
}

const inStatus = (
  status: OperationView['status'],
  reason?: string,
  retryAt?: number,
): Partial<OperationView> => ({ status, reason, retryAt, endedAt: undefined });

function placeOf(event: OperationEvent): string {
  if (!('url' in event) || event.url === undefined) return event.operation.kind;
  return `${event.method} ${pathOf(event.url)}`;
}

/** Removes the origin of a URL. */
export const pathOf = (url: string): string => url.replace(/^[a-z][\w+.-]*:\/\/[^/]*/i, '') || url;

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
