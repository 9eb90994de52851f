import type { Outcome, SteadfetchEvent } from 'steadfetch';
import {
  addLane,
  empty,
  endWait,
  pause,
  isOver,
  type Recording,
  type RequestMark,
  updateLast,
} from './recording.ts';

/** The recording after one more event of Steadfetch. */
export function recordEvent(recording: Recording, event: SteadfetchEvent): Recording {
  const { at, operation } = event;
  switch (event.type) {
    case 'operation:start':
      return isOver(recording) ? empty : { ...recording, result: undefined, endedAt: undefined };
    case 'attempt:start':
      return addLane(recording, at, { attempt: operation.attempt });
    case 'request:start':
      return updateLast(withAttempt(recording, event), (lane) => ({
        ...lane,
        requests: [
          ...lane.requests,
          { id: event.request, from: at, to: undefined, outcome: undefined },
        ],
      }));
    case 'request:end':
      return endRequests(recording, at, event.outcome, ({ id }) => id === event.request);
    case 'pause:start':
      return pause(recording, at, { pausedFor: event.reason, retryAt: event.retryAt });
    case 'pause:end':
      return endWait(recording, at);
    case 'attempt:end':
      return recording;
    case 'decision':
      return recordDecision(recording, event);
    case 'operation:end':
      return {
        // No more is told of a request that is still under way: its answer interests nobody.
        ...endRequests(endWait(recording, at), at, cancelled, ({ to }) => to === undefined),
        result: event.result,
        endedAt: at,
      };
  }
}

/** The recording with the lane of its attempt, if a pause has replaced that lane. */
function withAttempt(
  recording: Recording,
  { at, operation: { attempt } }: SteadfetchEvent,
): Recording {
  return recording.lanes.at(-1)?.pausedFor ? addLane(recording, at, { attempt }) : recording;
}

const cancelled: Outcome = { kind: 'aborted', processed: 'unknown' };

function endRequests(
  recording: Recording,
  at: number,
  outcome: Outcome,
  isMeant: (mark: RequestMark) => boolean,
): Recording {
  return updateLast(recording, (lane) => ({
    ...lane,
    requests: lane.requests.map((mark) => (isMeant(mark) ? { ...mark, to: at, outcome } : mark)),
  }));
}

function recordDecision(
  recording: Recording,
  { decision, failure }: Extract<SteadfetchEvent, { type: 'decision' }>,
): Recording {
  if (decision.kind === 'stop') {
    return updateLast(recording, (lane) => ({ ...lane, stop: decision.reason }));
  }
  // It is paused at once: there is no wait to draw.
  if (decision.delayMs === 0) return recording;
  const from = decision.retryAt - decision.delayMs;
  const retryAfterMs = failure.kind === 'http' ? failure.retryAfterMs : undefined;
  return updateLast(recording, (lane) => ({
    ...lane,
    wait: {
      from,
      plannedTo: decision.retryAt,
      to: undefined,
      retryAfterAt: retryAfterMs === undefined ? undefined : from + retryAfterMs,
      reason: decision.reason,
    },
  }));
}
