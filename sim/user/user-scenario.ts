/** How the server fails: at once, by a connection that breaks, by silence, or with a told time. */
export const userKinds = ['503', 'reset', 'hang', 'retry-after'] as const;
/** A bare 500 is not among those of the page: it is retried five times, however long the server is down. */
export type UserKind = (typeof userKinds)[number] | '500';

/** What one page does while its server is down. */
export interface PageScenario {
  readonly kind: UserKind;
  /** How many queries it asks for. */
  readonly queries: number;
  /** All at the moment at which the outage begins, or one after the other from then on. */
  readonly order: 'at once' | 'staggered';
  /** Opened at that moment, or used for a minute before. */
  readonly page: 'fresh' | 'used';
  /** When an attempt is given up, in milliseconds; Infinity: never. */
  readonly timeoutMs: number;
  /** How long what the server does takes once it is back, in milliseconds. @default 20, as before */
  readonly answerMs?: number;
}

/** The same, with an outage. */
export interface UserScenario extends PageScenario {
  readonly outageS: number;
  readonly seed: number;
}

/** The default time limit of an attempt. */
export const defaultTimeoutMs = 10_000;

/** How long what is wanted may be paused by default, and so how long a user waits at the most. */
export const maxPauseMs = 60_000;
