import type { Side } from '../api/server.ts';

/** How a request ended, for its colour: which is always said in words, too. */
export type Tone = 'ok' | 'bad' | 'slow' | 'lost';

/** A stretch of the time axis. All times are epoch milliseconds. */
export interface Span {
  readonly kind: 'request' | 'wait' | 'pause';
  readonly from: number;
  /** Undefined as long as it goes on. */
  readonly to?: number | undefined;
  /** When it should be over, as far as is known. */
  readonly plannedTo?: number | undefined;
  /** What came of the request, or why it is paused. */
  readonly label: string;
  readonly tone?: Tone | undefined;
}

/** How an operation ended. `left`: with its page. */
export type End = 'answered' | 'failed' | 'cancelled' | 'unknown' | 'left';

/** An operation: a query, an order, a report. */
export interface Lane {
  readonly id: string;
  readonly from: number;
  readonly spans: readonly Span[];
  readonly end?: { readonly how: End; readonly at: number } | undefined;
}

/** What happened on both sides since the run began, also before a reload. */
export interface Recording {
  readonly alone: readonly Lane[];
  readonly steady: readonly Lane[];
  /** When the page was left, and began anew. */
  readonly reloads: readonly number[];
}

export const emptyRecording: Recording = { alone: [], steady: [], reloads: [] };

/** The newest of a side that are kept, and the newest spans of each. */
const mostLanes = 24;
const mostSpans = 80;

/** Begins a lane, if it is new. */
export function beginLane(recording: Recording, side: Side, id: string, at: number): Recording {
  const lanes = recording[side];
  if (lanes.some((lane) => lane.id === id)) return recording;
  return { ...recording, [side]: [...lanes, { id, from: at, spans: [] }].slice(-mostLanes) };
}

/** Changes a lane; nothing if it is not there any more. */
export const changeLane = (
  recording: Recording,
  side: Side,
  id: string,
  change: (lane: Lane) => Lane,
): Recording => ({
  ...recording,
  [side]: recording[side].map((lane) => (lane.id === id ? change(lane) : lane)),
});

/** Ends the span that is open. */
export const closeSpan = (lane: Lane, at: number, how: Partial<Span> = {}): Lane => {
  const last = lane.spans.at(-1);
  if (!last || last.to !== undefined) return lane;
  return { ...lane, spans: [...lane.spans.slice(0, -1), { ...last, ...how, to: at }] };
};

/** Begins a span, which ends the one before it. */
export const openSpan = (lane: Lane, span: Span): Lane => ({
  ...lane,
  end: undefined,
  spans: [...closeSpan(lane, span.from).spans, span].slice(-mostSpans),
});

export const endLane = (lane: Lane, at: number, how: End): Lane => ({
  ...closeSpan(lane, at, isRequesting(lane) ? { label: 'cancelled', tone: 'lost' } : {}),
  end: { how, at },
});

/** The request or the wait that goes on. */
export function current({ spans }: Lane): Span | undefined {
  const last = spans.at(-1);
  return last?.to === undefined ? last : undefined;
}

const isRequesting = (lane: Lane): boolean => current(lane)?.kind === 'request';

const pauseLabels: Readonly<Record<string, string>> = {
  'server-down': 'server down',
  'rate-limited': 'rate limit',
  queued: 'queue',
  offline: 'offline',
  hidden: 'hidden tab',
};

/** Also a second time: a body may break off after its headers. */
export function endRequest(lane: Lane, at: number, label: string, tone: Tone): Lane {
  const last = lane.spans.at(-1);
  if (last?.kind !== 'request') return lane;
  return { ...lane, spans: [...lane.spans.slice(0, -1), { ...last, to: at, label, tone }] };
}

/** Begins a pause, or says anew what it waits for. */
export function pause(lane: Lane, at: number, reason: string, plannedTo?: number): Lane {
  const label = pauseLabels[reason] ?? reason;
  const span: Span = { kind: 'pause', from: at, label, plannedTo };
  const last = current(lane);
  if (last?.kind !== 'pause') return openSpan(lane, span);
  return { ...lane, spans: [...lane.spans.slice(0, -1), { ...last, label, plannedTo }] };
}

/** The page is left: what it was doing ends with it. */
export function leave(recording: Recording, at: number): Recording {
  const lanesOf = (lanes: readonly Lane[]): readonly Lane[] =>
    lanes.map((lane) => (lane.end ? lane : endLane(lane, at, 'left')));
  if (recording.alone.length + recording.steady.length === 0) return recording;
  return {
    alone: lanesOf(recording.alone),
    steady: lanesOf(recording.steady),
    reloads: [...recording.reloads, at].slice(-mostLanes),
  };
}

/** When the first thing happened. */
export const startOf = ({ alone, steady }: Recording): number | undefined => {
  const starts = [...alone, ...steady].map(({ from }) => from);
  return starts.length > 0 ? Math.min(...starts) : undefined;
};

export const requestsOf = (lanes: readonly Lane[]): number =>
  lanes.flatMap(({ spans }) => spans).filter(({ kind }) => kind === 'request').length;

/** Seconds as one says them: "7.8 s", "11 s". */
export const formatSeconds = (ms: number): string =>
  `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0).replace(/\.0$/, '')} s`;

/** A lane in words. */
function describeLane({ spans, end }: Lane): string {
  const parts = spans.map(({ kind, from, to, label }) => {
    const length = to === undefined ? '' : ` ${formatSeconds(to - from)}`;
    if (kind === 'wait') return to === undefined ? 'waiting' : `waited${length}`;
    if (kind === 'pause') return `paused${length} (${label})`;
    return label || 'sending';
  });
  return `${parts.join(', ')}${end && end.how !== 'answered' ? `, ${end.how}` : ''}`;
}

/** The picture of a side in words. */
export const describeLanes = (lanes: readonly Lane[]): string =>
  lanes.length === 0 ? 'nothing yet' : lanes.map(describeLane).join('; then ');
