import type { OperationResult, Outcome, RetryReason, StopReason } from 'steadfetch';
import type { AnyPauseReason } from 'steadfetch/react';

/** A request, on the wire from `from` until `to`. All times are epoch milliseconds. */
export interface RequestMark {
  readonly id: number;
  readonly from: number;
  /** Undefined while it is on its way. */
  readonly to: number | undefined;
  readonly outcome: Outcome | undefined;
}

/** A wait before the next attempt. */
export interface WaitMark {
  readonly from: number;
  readonly plannedTo: number;
  /** When it was over: as planned, or earlier because somebody pressed a button. */
  readonly to: number | undefined;
  /** When the server asked us to be back, at the earliest. */
  readonly retryAfterAt: number | undefined;
  readonly reason: RetryReason;
}

/** One line of the picture: an attempt with what followed it, or a pause before one. */
export interface Lane {
  readonly key: string;
  /** Counted from 1 in each operation; undefined for a pause. */
  readonly attempt: number | undefined;
  /** Why it is paused; undefined for an attempt. */
  readonly pausedFor: AnyPauseReason | undefined;
  /** When its origin is tried next, as far as is known. */
  readonly retryAt: number | undefined;
  readonly from: number;
  /** The end of a pause. */
  readonly to: number | undefined;
  readonly requests: readonly RequestMark[];
  readonly wait: WaitMark | undefined;
  readonly stop: StopReason | undefined;
}

/** What has happened since an operation began, up to its end and with those that took its place. */
export interface Recording {
  readonly lanes: readonly Lane[];
  readonly result: OperationResult | undefined;
  readonly endedAt: number | undefined;
}

export const empty: Recording = { lanes: [], result: undefined, endedAt: undefined };

/** Ended for good: what comes next is a new picture. */
export function isOver({ result }: Recording): boolean {
  return result !== undefined && result !== 'superseded';
}

export function addLane(
  recording: Recording,
  at: number,
  { attempt, pausedFor, retryAt }: Partial<Pick<Lane, 'attempt' | 'pausedFor' | 'retryAt'>>,
): Recording {
  const { lanes } = endWait(recording, at);
  const lane: Lane = {
    key: `${lanes.length} ${at}`,
    attempt,
    pausedFor,
    retryAt,
    from: at,
    to: undefined,
    requests: [],
    wait: undefined,
    stop: undefined,
  };
  return { ...recording, lanes: [...lanes, lane] };
}

export function updateLast(recording: Recording, change: (lane: Lane) => Lane): Recording {
  const { lanes } = recording;
  return {
    ...recording,
    lanes: lanes.map((lane, i) => (i < lanes.length - 1 ? lane : change(lane))),
  };
}

/** Whether an attempt is paused right now. */
export function isPaused({ lanes }: Recording): boolean {
  const last = lanes.at(-1);
  return last?.pausedFor !== undefined && last.to === undefined;
}

/** Begins a pause, or says anew what it waits for. */
export function pause(
  recording: Recording,
  at: number,
  reason: Pick<Lane, 'pausedFor' | 'retryAt'>,
): Recording {
  if (isPaused(recording)) return updateLast(recording, (lane) => ({ ...lane, ...reason }));
  // An attempt that has sent nothing yet has its line after the pause.
  const { lanes } = recording;
  const last = lanes.at(-1);
  const isUnsent = last && !last.pausedFor && !last.stop && last.requests.length === 0;
  const before = isUnsent ? { ...recording, lanes: lanes.slice(0, -1) } : recording;
  return addLane(before, at, reason);
}

/** Ends the wait or the pause that is going on. */
export function endWait(recording: Recording, at: number): Recording {
  return updateLast(recording, (lane) => ({
    ...lane,
    to: lane.to ?? (lane.pausedFor && at),
    wait: lane.wait && { ...lane.wait, to: lane.wait.to ?? at },
  }));
}
