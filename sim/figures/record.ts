/** One thing that a user asked for. */
export interface AskedOperation {
  readonly askedMs: number;
  /** Absent while it is under way. */
  settledMs?: number;
  /** When the user no longer wanted it. */
  leftMs?: number;
  isOk?: boolean;
  /** It is for an endpoint that is always broken. */
  isOfBroken?: boolean;
}

/** Everything that happened in a run: what all figures are made of. */
export interface RunRecord {
  readonly operations: AskedOperation[];
  /** When requests arrived at the server. */
  readonly arrivalsMs: number[];
}
