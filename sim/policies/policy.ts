import type { Clock, Random, SharePorts, Transport } from '../../src/index.ts';

/** What a tab is made with. */
export interface TabContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly fetch: Transport;
  /** When a client gives up on an attempt. */
  readonly timeoutMs: number;
  /** Nobody waits for what it asks. */
  readonly isBackground: boolean;
  /** What joins it to the other tabs of its browser; undefined: it is the only one. */
  readonly share: SharePorts | undefined;
  /** What the command line says of this policy's own options, as JSON. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** One operation: what is at the URL is wanted. A rejection means that the user gets an error. */
export type Ask = (url: string) => Promise<unknown>;

/** Opens one tab with a policy: its state is the tab's own. */
export interface OpenTab {
  (context: TabContext): Ask;
  /** It makes Requests, which take no signal but a real one. */
  readonly makesRequests?: boolean;
}
