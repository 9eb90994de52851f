import type { OperationResult, Outcome, RetryReason, StopReason } from 'steadfetch';

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

/** Why React Query holds an attempt back. */
type HoldReason = 'offline' | 'hidden tab';

/** One line of the picture: an attempt with what followed it, or a hold before one. */
export interface Lane {
  readonly key: string;
  /** Counted from 1 in each operation; undefined for a hold. */
  readonly attempt: number | undefined;
  /** Why it is held; undefined for an attempt. */
  readonly heldFor: HoldReason | undefined;
  readonly from: number;
  /** The end of a hold. */
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
  { attempt, heldFor }: Partial<Pick<Lane, 'attempt' | 'heldFor'>>,
): Recording {
  const { lanes } = endWait(recording, at);
  const lane: Lane = {
    key: `${lanes.length} ${at}`,
    attempt,
    heldFor,
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

/** Ends the wait or the hold that is going on. */
export function endWait(recording: Recording, at: number): Recording {
  return updateLast(recording, (lane) => ({
    ...lane,
    to: lane.to ?? (lane.heldFor && at),
    wait: lane.wait && { ...lane.wait, to: lane.wait.to ?? at },
  }));
}
