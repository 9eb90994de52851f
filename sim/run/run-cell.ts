import { randomStream } from '../engine/random-stream.ts';
import { createSimulation } from '../engine/simulation.ts';
import { installGlobals } from '../engine/virtual-globals.ts';
import type { AskedOperation, RunRecord } from '../figures/record.ts';
import { startArrivals } from '../model/arrivals.ts';
import { createBrowser } from '../model/browser.ts';
import { createNetwork } from '../model/network.ts';
import { milestones, type Scenario } from '../model/scenario.ts';
import { createServer } from '../model/server.ts';
import { createVisitors } from '../model/visitors.ts';
import type { OpenTab, TabContext } from '../policies/policy.ts';

/** When a client gives up on an attempt. */
const timeoutMs = 2000;

/** How long what was asked before the end may take to be decided; the load goes on meanwhile. */
const longestAfterEndMs = 30_000;

/** Runs one policy through one scenario. */
export async function runCell(
  scenario: Scenario,
  openTab: OpenTab,
  config: TabContext['config'] = {},
): Promise<RunRecord> {
  const simulation = createSimulation();
  const { recoveryMs, endMs } = milestones(scenario);
  const { tabsPerBrowser } = scenario;
  const stream = (part: string) => randomStream(scenario.seed, part);
  const operations: AskedOperation[] = [];
  const arrivalsMs: number[] = [];
  const server = createServer(scenario, stream('server'));
  const fetch = createNetwork(simulation, server, (atMs) => void arrivalsMs.push(atMs));
  const context = { clock: simulation.clock, random: stream('policy'), fetch, timeoutMs, config };
  const tabs = Array.from({ length: scenario.tabs / tabsPerBrowser }, () => {
    const openPorts = createBrowser(simulation.clock);
    return Array.from({ length: tabsPerBrowser }, () =>
      openTab({ ...context, share: tabsPerBrowser > 1 ? openPorts() : undefined }),
    );
  }).flat();
  const visit = createVisitors(
    simulation,
    scenario,
    stream('visitors'),
    tabs,
    openTab.sharesQueries,
  );
  let underWay = 0;

  const ask = (tab: number): void => {
    const operation: AskedOperation = { askedMs: simulation.nowMs() };
    operations.push(operation);
    const isCounted = operation.askedMs < endMs;
    if (isCounted) underWay++;
    visit(tab, operation, () => {
      if (isCounted) underWay--;
    });
  };

  startArrivals(simulation, scenario, stream('arrivals'), ask);
  if (scenario.pushAtS !== undefined) {
    simulation.at(recoveryMs + scenario.pushAtS * 1000, () => tabs.forEach((_, tab) => ask(tab)));
  }
  const restoreGlobals = installGlobals(context.clock, context.random, openTab.makesRequests);
  try {
    await simulation.run(endMs);
    const lateMs = endMs + longestAfterEndMs;
    for (let atMs = endMs; underWay > 0 && atMs < lateMs; atMs += 1000) {
      await simulation.run(atMs + 1000);
    }
  } finally {
    restoreGlobals();
  }
  return { operations, arrivalsMs };
}
