/** How many attempts may be in flight at once, and wait for a place: a bulkhead. */
export interface ConcurrencyOptions {
  /** Attempts in flight: sent, and without headers yet. @default Infinity */
  readonly maxInFlight?: number | undefined;
  /** Attempts that wait for a place; one more is refused at once. @default Infinity */
  readonly maxQueued?: number | undefined;
  /** The longest wait for a place, in milliseconds. @default `maxPauseMs` */
  readonly queueTimeoutMs?: number | undefined;
}
