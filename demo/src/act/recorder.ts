import {
  hashKey,
  type MutationCacheNotifyEvent,
  type QueryCacheNotifyEvent,
  type QueryClient,
} from '@tanstack/react-query';
import type { Outcome, Steadfetch, SteadfetchEvent } from 'steadfetch';
import { createTabState } from '../api/kept-state.ts';
import type { Server, Side } from '../api/server.ts';
import {
  beginLane,
  changeLane,
  closeSpan,
  current,
  emptyRecording,
  endLane,
  endRequest,
  formatSeconds,
  type Lane,
  leave,
  openSpan,
  pause,
  type Recording,
  type Span,
  type Tone,
} from './recording.ts';

/** Writes down what happens on both sides of an act, as it happens. */
export interface Recorder {
  readonly getState: () => Recording;
  readonly subscribe: (listener: () => void) => () => void;
  readonly clear: () => void;
  readonly begin: (side: Side, id: string) => void;
  /** Does nothing to what began before the recording did. */
  readonly change: (side: Side, id: string, change: (lane: Lane, at: number) => Lane) => void;
}

/** Over a reload it is in the sessionStorage: as much of it as can be drawn. */
export function createRecorder(act: string): Recorder {
  const kept = createTabState<Recording>(`steadfetch.${act}.recording`, emptyRecording);
  const leavePage = (): void => kept.update((recording) => leave(recording, Date.now()));
  // What the last page was doing when it crashed, and could not say.
  const { alone, steady } = kept.getState();
  if ([...alone, ...steady].some((lane) => !lane.end)) leavePage();
  window.addEventListener('pagehide', leavePage);
  return {
    getState: kept.getState,
    subscribe: kept.subscribe,
    clear: () => kept.update(() => emptyRecording),
    begin: (side, id) => kept.update((recording) => beginLane(recording, side, id, Date.now())),
    change(side, id, change) {
      const at = Date.now();
      kept.update((recording) => changeLane(recording, side, id, (lane) => change(lane, at)));
    },
  };
}

const toneOf = ({ kind }: Outcome): Tone =>
  kind === 'ok' ? 'ok' : kind === 'http' ? 'bad' : kind === 'timeout' ? 'slow' : 'lost';

function labelOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'ok':
    case 'http':
      return `${outcome.status}`;
    case 'timeout':
      return 'timed out';
    case 'body':
      return `${outcome.status}, cut off`;
    case 'network':
      return 'no answer';
    case 'aborted':
      return 'cancelled';
    default:
      return 'error';
  }
}

/** Ids of lanes: those of one page are never those of the next. */
const page = crypto.randomUUID().slice(0, 8);
let lastLane = 0;
const newId = (): string => `${page}-${++lastLane}`;

/** The side with Steadfetch: its events tell everything but what React Query itself pauses. */
export function watchSteady(
  recorder: Recorder,
  steady: Pick<Steadfetch, 'subscribe'>,
  client: QueryClient,
): void {
  const ids = new Map<string, string>();
  const idOf = (key: string): string => {
    const id = ids.get(key) ?? newId();
    ids.set(key, id);
    return id;
  };
  const keyOf = ({ operation }: SteadfetchEvent): string =>
    operation.queryKey ? hashKey(operation.queryKey) : `${operation.id}`;

  steady.subscribe((event) => {
    if (event.operation.kind === 'call') return;
    const key = keyOf(event);
    if (event.type === 'operation:start') recorder.begin('steady', idOf(key));
    recorder.change('steady', idOf(key), (lane) => afterEvent(lane, event));
    // What a newer fetch has replaced goes on in its line.
    if (event.type === 'operation:end' && event.result !== 'superseded') ids.delete(key);
  });
  client.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated') return;
    const { fetchStatus } = query.state;
    const id = ids.get(query.queryHash);
    const isOurs = id !== undefined && query.state.status !== 'success';
    if (fetchStatus === 'paused' && !navigator.onLine) {
      const paused = idOf(query.queryHash);
      recorder.begin('steady', paused);
      recorder.change('steady', paused, (lane, at) => pause(lane, at, 'offline'));
    } else if (isOurs && fetchStatus === 'fetching') {
      recorder.change('steady', id, (lane, at) =>
        current(lane)?.label === 'offline' ? closeSpan(lane, at) : lane,
      );
    }
  });
}

function afterEvent(lane: Lane, event: SteadfetchEvent): Lane {
  const { at } = event;
  switch (event.type) {
    case 'request:start':
      return openSpan(lane, { kind: 'request', from: at, label: '' });
    case 'request:end':
      return endRequest(lane, at, labelOf(event.outcome), toneOf(event.outcome));
    case 'pause:start':
      return pause(lane, at, event.reason, event.retryAt);
    case 'pause:end':
      return closeSpan(lane, at);
    case 'decision': {
      const { decision, failure } = event;
      if (decision.kind === 'stop' || decision.delayMs === 0) return lane;
      const asked = failure.kind === 'http' ? failure.retryAfterMs : undefined;
      const label = asked === undefined ? '' : `Retry-After ${formatSeconds(asked)}`;
      return openSpan(lane, { kind: 'wait', from: at, plannedTo: decision.retryAt, label });
    }
    case 'operation:end':
      if (event.result === 'superseded') return closeSpan(lane, at);
      return endLane(lane, at, event.result === 'succeeded' ? 'answered' : event.result);
    default:
      return lane;
  }
}

/** The side without: its caches tell of failures, waits and ends, and its server of requests. */
export function watchAlone(recorder: Recorder, client: QueryClient, server: Server): void {
  const ids = new Map<string, string>();
  const requests = new Map<number, string>();
  const change = (id: string, how: (lane: Lane, at: number) => Lane): void =>
    recorder.change('alone', id, how);

  /** Of those that send something next, the one that is due first. */
  const nextToSend = (): Lane | undefined => {
    const active = new Set(ids.values());
    const dueAt = (lane: Lane): number => current(lane)?.plannedTo ?? lane.from;
    return recorder
      .getState()
      .alone.filter((lane) => active.has(lane.id) && !lane.end)
      .filter((lane) => current(lane)?.kind !== 'request')
      .toSorted((a, b) => dueAt(a) - dueAt(b))[0];
  };

  server.subscribe(({ id: request, label, isOk }) => {
    if (label === undefined) {
      const id = nextToSend()?.id;
      if (id === undefined) return;
      requests.set(request, id);
      change(id, (lane, at) => openSpan(lane, { kind: 'request', from: at, label: '' }));
      return;
    }
    const id = requests.get(request);
    const tone = isOk ? 'ok' : label === 'no answer' ? 'lost' : 'bad';
    if (id !== undefined) change(id, (lane, at) => endRequest(lane, at, label, tone));
  });

  type Action = 'fetch' | 'pending' | 'failed' | 'pause' | 'continue' | 'success' | 'error';
  const act = (key: string, type: Action, failures: number, isPaused: boolean): void => {
    const isNew = type === 'fetch' || type === 'pending';
    if (isNew) ids.set(key, newId());
    const id = ids.get(key);
    if (id === undefined) return;
    if (isNew) recorder.begin('alone', id);
    change(id, (lane, at) => {
      switch (type) {
        case 'failed': {
          const plannedTo = at + Math.min(1000 * 2 ** (failures - 1), 30_000);
          return openSpan(cutOff(lane), { kind: 'wait', from: at, plannedTo, label: '' });
        }
        case 'success':
          return endLane(lane, at, 'answered');
        case 'error':
          return endLane(cutOff(lane), at, 'failed');
        case 'continue':
          return closeSpan(lane, at);
        default:
          return isPaused ? pause(lane, at, navigator.onLine ? 'hidden' : 'offline') : lane;
      }
    });
    if (type === 'success' || type === 'error') ids.delete(key);
  };

  client.getQueryCache().subscribe((event: QueryCacheNotifyEvent) => {
    const { queryHash, state } = event.query;
    if (event.type === 'updated') {
      const { type } = event.action;
      if (type === 'setState' || type === 'invalidate') return;
      act(queryHash, type, state.fetchFailureCount, state.fetchStatus === 'paused');
    } else if (event.type === 'observerRemoved' && event.query.getObserversCount() === 0) {
      const id = ids.get(queryHash);
      if (id !== undefined) change(id, (lane, at) => endLane(lane, at, 'cancelled'));
      ids.delete(queryHash);
    }
  });
  client.getMutationCache().subscribe((event: MutationCacheNotifyEvent) => {
    if (event.type !== 'updated') return;
    const { mutationId, state } = event.mutation;
    act(`${mutationId}`, event.action.type, state.failureCount, state.isPaused);
  });
}

/** An answer that was taken for a failure: its body did not arrive. */
function cutOff(lane: Lane): Lane {
  const last = lane.spans.at(-1);
  if (last?.kind !== 'request' || last.tone !== 'ok') return lane;
  const cut: Span = { ...last, label: `${last.label}, cut off`, tone: 'lost' };
  return { ...lane, spans: [...lane.spans.slice(0, -1), cut] };
}
