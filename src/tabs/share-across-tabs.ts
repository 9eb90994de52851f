import type { Clock, Random } from '../lib/clock.ts';
import { code, type MadeBy } from '../lib/made-by.ts';
import { openChannel, type SharePorts } from './channel.ts';
import { createLeader, type Leader } from './leader.ts';
import { watchPageState } from './page-state.ts';
import { createTabs, type Line, type Tabs } from './words.ts';

/** What sharing brings. */
export interface TabsCode {
  readonly by: 'shareAcrossTabs';
  /** Undefined where no tab can be reached. */
  readonly open: (random: Random, hasPage: boolean) => Tabs | undefined;
  readonly createLeader: (clock: Clock, random: Random, line: Line) => Leader;
}

/**
 * Shares what the tabs of a browser know of each origin, and lets one of them probe for all, for
 * `tabs`. Only where there is a BroadcastChannel.
 *
 * @param ports What joins the tabs; BroadcastChannel and the page's life where it is left out.
 *
 * @example
 * ```ts
 * const shared = createSteadfetch({ tabs: shareAcrossTabs() });
 * ```
 */
export function shareAcrossTabs(ports?: SharePorts): MadeBy<'shareAcrossTabs'> {
  const made: TabsCode = {
    by: 'shareAcrossTabs',
    open(random, hasPage) {
      if (!ports && !hasPage) return undefined;
      return createTabs(random, ports ?? { open: openChannel, watch: watchPageState });
    },
    createLeader,
  };
  return { [code]: made };
}
