import type { Random } from '../../src/index.ts';
import type { Simulation } from '../engine/simulation.ts';
import type { AskedOperation } from '../figures/record.ts';
import type { Ask } from '../policies/policy.ts';
import type { Scenario } from './scenario.ts';
import { shareQueries } from './share-queries.ts';

/** One ask of one tab; `onOver` is called when it is decided, or nobody waits for it any more. */
export type Visit = (tab: number, operation: AskedOperation, onOver: () => void) => void;

/**
 * The people in front of the tabs. Each asks for one of its tab's queries, and leaves when its
 * patience is over. Where the scenario says neither, every ask is for something of its own, and
 * everybody stays.
 */
export function createVisitors(
  simulation: Simulation,
  { queries, leaveS }: Scenario,
  random: Random,
  tabs: readonly Ask[],
  sharesQueries = false,
): Visit {
  const asks = queries === 0 || sharesQueries ? tabs : tabs.map(shareQueries);

  return (tab, operation, onOver) => {
    const ask = asks[tab];
    if (!ask) throw new Error(`There is no tab ${tab}.`);
    const query = queries === 0 ? undefined : Math.floor(random() * queries);
    const leaving = leaveS === 0 ? undefined : new AbortController();
    const settle = (isOk: boolean): void => {
      if (operation.leftMs !== undefined) return;
      operation.settledMs = simulation.nowMs();
      operation.isOk = isOk;
      onOver();
    };
    ask({ query, signal: leaving?.signal }).then(
      () => settle(true),
      () => settle(false),
    );
    if (!leaving) return;
    simulation.at(simulation.nowMs() - Math.log(1 - random()) * leaveS * 1000, () => {
      if (operation.settledMs !== undefined) return;
      operation.leftMs = simulation.nowMs();
      onOver();
      leaving.abort();
    });
  };
}
