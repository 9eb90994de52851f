import { keyText } from '../core/lib/json.ts';
import type { OperationRef, Outcome } from '../core/internal.ts';
import { byType } from '../telemetry/subscribe-all.ts';
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
  return { at, inspection, operations: [...operations.values()].map(viewOf).reverse(), events };
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
  return events.reduce(
    (view, event) => ({
      ...view,
      attempt: Math.max(view.attempt, event.operation.attempt),
      ...changeBy(event)?.(view),
    }),
    first,
  );
}

type Change = (view: OperationView) => Partial<OperationView> | undefined;

/** The change of a view by the next event. */
const changeBy = byType<OperationEvent, Change>({
  'attempt:start': () => () => inStatus('sending'),
  'request:start': (event) => (view) => ({
    ...inStatus('sending'),
    // Before its first request, a mutation or a call has no other label.
    label: view.label === view.kind ? placeOf(event) : view.label,
    requests: view.requests + 1,
  }),
  'pause:start':
    ({ reason, retryAt, probedBy }) =>
    () => ({ ...inStatus('paused', reason, retryAt), probedBy }),
  'pause:end':
    ({ result }) =>
    ({ status }) => ({
      ...(status === 'paused' && inStatus('sending')),
      isProbe: result === 'probe',
    }),
  'request:end':
    ({ outcome, at }) =>
    (view) =>
      outcome.kind === 'ok' && isAlone(view)
        ? { ...inStatus('succeeded'), endedAt: at }
        : undefined,
  decision:
    ({ decision, maxRetries, at }) =>
    (view) => {
      const probes = view.probes + Number(view.isProbe);
      const trials = maxRetries > 0 ? probes : 0;
      const maxAttempts = maxRetries < Infinity ? maxRetries + 1 + trials : undefined;
      const state =
        decision.kind === 'retry'
          ? inStatus('waiting', decision.reason, decision.retryAt)
          : { ...inStatus('failed', decision.reason), endedAt: at };
      return { ...state, probes, isProbe: false, maxAttempts };
    },
  'operation:end':
    ({ result, at }) =>
    ({ reason }) => ({
      ...inStatus(result, result === 'failed' ? reason : undefined),
      endedAt: at,
    }),
});

/** Whether it is a request outside of `retry`, which emits no end if it succeeds. */
const isAlone = ({ kind, events }: OperationView): boolean =>
  kind === 'call' && !events.some(({ type }) => /^(?:operation|attempt):start$/.test(type));

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
  let cells: readonly Cell[] = Array.from({ length: count }, () => 'none');
  // Cells keep their place: a new one starts every two seconds.
  const endsAt = Math.ceil((at + 1) / cellMs) * cellMs;
  const indexOf = (time: number): number => Math.floor((time - endsAt) / cellMs) + count;
  const paint = (from: number, to: number, cell: Cell): void => {
    const [first, last] = [indexOf(from), indexOf(to)];
    cells = cells.map((old, index) =>
      index >= first && index <= last && worst.indexOf(cell) > worst.indexOf(old) ? cell : old,
    );
  };
  const isOf = (place: { readonly origin: string; readonly endpoint?: string | undefined }) =>
    place.origin === origin && (place.endpoint ?? endpoint) === endpoint;
  let downAt: number | undefined;
  for (const event of events) {
    if (event.type === 'request:end') {
      const { place } = event;
      if (place && isOf(endpoint === undefined ? { origin: place.origin } : place))
        paint(event.at, event.at, cellOf(event.outcome));
    } else if (event.type === 'outage:start' && isOf(event)) downAt ??= event.at;
    else if (event.type === 'outage:end' && isOf(event)) {
      paint(event.at - event.downMs, event.at, 'down');
      downAt = undefined;
    }
  }
  if (downAt !== undefined) paint(downAt, at, 'down');
  return cells;
}

function cellOf(outcome: Outcome): Cell {
  if (outcome.kind === 'http')
    return outcome.status < 429 ? 'ok' : outcome.status === 429 ? 'limited' : 'failed';
  return outcome.kind === 'ok' ? 'ok' : 'failed';
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
