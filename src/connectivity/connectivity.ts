import type { Network } from '../origin/network.ts';
import type { Readable } from '../origin/store.ts';

/** Whether the network is there. */
export interface ConnectivityState {
  /**
   * `online`: nothing speaks against it. `suspect`: something does, and nothing is paused for it.
   * `offline`: the device is, as far as can be known, and operations are paused.
   */
  readonly status: 'online' | 'suspect' | 'offline';
  /** Since when, in epoch milliseconds. */
  readonly since: number;
  /** While offline: when it is looked for next, in epoch milliseconds. */
  readonly nextCheckAt: number | undefined;
}

/** Evidence of the network, from what requests show. */
export interface Connectivity extends Readable<ConnectivityState> {
  /** Looks now: by the check or, without one, while offline, by a request of its own. */
  readonly checkNow: () => void;
  /** An answer of any kind came, to a request that was sent then. */
  readonly answered: (sentAt: number, now: number, url: string) => void;
  /** None came. Tells, now or when it is known, whether that is the origin's doing. */
  readonly failed: (sentAt: number, url: string, judge: (isItsDoing: boolean) => void) => void;
  /** What the gates of all origins hold by. */
  readonly network: Network;
  readonly dispose: () => void;
}
