import type { Dialect } from './dialects.ts';

/** Functions that a module of the user exports, for what no answer shows. */
export interface Hooks {
  /** How many effects there have been so far. */
  readonly countEffects?: (() => number | Promise<number>) | undefined;
  /** Sets the clock of the server forward. */
  readonly advanceClock?: ((ms: number) => void | Promise<void>) | undefined;
  /** Restarts the server, and returns when it listens again. */
  readonly restart?: (() => void | Promise<void>) | undefined;
}

/** The ways in which a request can make a test build of the server fail. */
export type Trigger = 'refuse' | 'fail' | 'failLate' | 'slow' | 'crash';
export const triggers: readonly Trigger[] = ['refuse', 'fail', 'failLate', 'slow', 'crash'];

/** A header, or a whole body, that triggers it. */
export type Triggering =
  | { readonly header: readonly [name: string, value: string] }
  | { readonly body: string };

/** The usual request. */
export interface RequestSettings {
  readonly url: URL;
  readonly method: string;
  /** By lower-case name, credentials included. */
  readonly headers: Readonly<Record<string, string>>;
  /** With `{{unique}}` where each operation needs another value. */
  readonly body: string;
  /** The same, with another meaning. */
  readonly otherBody?: string | undefined;
}

/** Requests that are like the usual one, but for one thing. */
export interface OtherRequests {
  /** In place of `headers`: those of another user. */
  readonly secondUser?: Readonly<Record<string, string>> | undefined;
  /** In place of `headers`: newer credentials of the same user. */
  readonly renewed?: Readonly<Record<string, string>> | undefined;
  readonly otherUrl?: URL | undefined;
  readonly otherMethod?: string | undefined;
  /** The origin of an app in a browser. */
  readonly origin?: string | undefined;
  /** Whether that app sends cookies. */
  readonly hasCredentials: boolean;
}

export interface Limits {
  readonly timeoutMs: number;
  /** How long a key may be in progress after its request is gone. */
  readonly leaseMs: number;
  /** The longest wait that a server may ask for. */
  readonly maxWaitMs: number;
}

export interface Settings extends RequestSettings, OtherRequests, Limits {
  readonly declared: Dialect;
  readonly triggers: Readonly<Partial<Record<Trigger, Triggering>>>;
  readonly hooks: Hooks;
  /** Paths in an answer that differ from one answer to the next, such as a time. */
  readonly ignore: readonly string[];
  /** The ids of the requirements to try; all, if there are none. */
  readonly only: readonly string[];
  /** Whether to wait until the lifetime of a key has passed. */
  readonly canWait: boolean;
}
