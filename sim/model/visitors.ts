import type { Random } from '../../src/index.ts';
import type { Simulation } from '../engine/simulation.ts';
import type { AskedOperation } from '../figures/record.ts';
import type { Ask } from '../policies/policy.ts';
import { endpointUrl } from './endpoints.ts';
import type { Scenario } from './scenario.ts';

/** A tab that a user has before them. */
export interface Tab {
  readonly ask: Ask;
  /** It sends nothing any more. */
  readonly close: () => void;
}

/** The users: what they ask for, and how long they wait for it. */
export interface Visitors {
  /** Somebody asks for something; `onOver` is called when it is decided, or nobody waits any more. */
  readonly visit: (tab: Tab, operation: AskedOperation, onOver: () => void) => void;
  /** Somebody opens a page that asks for several things at once, and leaves when their patience is over. */
  readonly load: (tab: Tab, operations: readonly AskedOperation[], onOver: () => void) => void;
}

export function createVisitors(
  simulation: Simulation,
  { endpoints, brokenEndpoints, leaveS }: Scenario,
  random: Random,
): Visitors {
  const ask = (tab: Tab, index: number, operation: AskedOperation, onOver: () => void): void => {
    operation.isOfBroken = index < brokenEndpoints;
    const settle = (isOk: boolean): void => {
      if (operation.leftMs !== undefined) return;
      operation.settledMs = simulation.nowMs();
      operation.isOk = isOk;
      onOver();
    };
    tab.ask(endpointUrl(index)).then(
      () => settle(true),
      () => settle(false),
    );
  };

  return {
    visit(tab, operation, onOver) {
      // One endpoint needs no chance: so the arrivals are what they were without it.
      ask(tab, endpoints === 1 ? 0 : Math.floor(random() * endpoints), operation, onOver);
    },
    load(tab, operations, onOver) {
      operations.forEach((operation, index) => ask(tab, index % endpoints, operation, onOver));
      if (leaveS === 0) return;
      simulation.at(simulation.nowMs() - Math.log(1 - random()) * leaveS * 1000, () => {
        tab.close();
        for (const operation of operations) {
          if (operation.settledMs !== undefined) continue;
          operation.leftMs = simulation.nowMs();
          onOver();
        }
      });
    },
  };
}
