import { type ConnectivityOptions, checkConnectivity, sendCheck } from '../connectivity/check.ts';
import { type Connectivity, createConnectivity } from '../connectivity/connectivity.ts';
import { browserHint, type PageLife, watchPageLife } from '../connectivity/page-life.ts';
import type { Outlive } from '../fetch/call.ts';
import { askAgain, outlivePage } from '../fetch/outlive.ts';
import type { Heart } from '../lib/heart.ts';
import type { Clock, Random, Transport } from '../lib/clock.ts';
import { code, type MadeBy } from '../lib/made-by.ts';
import { feedOnlineManager } from './feed-online.ts';

/** What the watch over the network stands on. */
interface WatchContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly heart: Heart;
  readonly transport: Transport;
  readonly knownOrigins: () => readonly string[];
}

/** What the watch over the network brings. */
export interface ConnectivityCode {
  readonly by: 'watchConnectivity';
  readonly outlive: Outlive;
  readonly open: (context: WatchContext) => {
    readonly connectivity: Connectivity;
    /** Undefined where there is no page. */
    readonly page: PageLife | undefined;
    readonly dispose: () => void;
  };
}

/**
 * Finds out whether the network is there from what requests show and, where there is one, from a check
 * of its own, for `connectivity`. React Query's `onlineManager` is told. What the browser cuts off
 * while the page is left is no failure.
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * const watching = createSteadfetch({ connectivity: watchConnectivity({ check: '/ping' }) });
 * ```
 */
export function watchConnectivity(options: ConnectivityOptions = {}): MadeBy<'watchConnectivity'> {
  const check = checkConnectivity('watchConnectivity', options);
  const made: ConnectivityCode = {
    by: 'watchConnectivity',
    outlive: { outlivePage, askAgain },
    open({ clock, random, heart, transport, knownOrigins }) {
      const hint = browserHint();
      const page = watchPageLife(clock, random);
      const connectivity = createConnectivity(
        clock,
        random,
        heart,
        hint,
        hint && check ? (signal) => sendCheck(clock, transport, check, signal) : undefined,
        (origin, signal) => sendCheck(clock, transport, { url: `${origin}/` }, signal),
        knownOrigins,
      );
      const giveBack = hint && feedOnlineManager(connectivity, hint);
      return {
        connectivity,
        page,
        dispose() {
          giveBack?.();
          page?.dispose();
          connectivity.dispose();
        },
      };
    },
  };
  return { [code]: made };
}
