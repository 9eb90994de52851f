import { randomStream } from '../engine/random-stream.ts';
import { createSimulation } from '../engine/simulation.ts';
import { installGlobals } from '../engine/virtual-globals.ts';
import type { AskedOperation, RunRecord } from '../figures/record.ts';
import { startArrivals } from '../model/arrivals.ts';
import { createBrowser } from '../model/browser.ts';
import { isBroken } from '../model/endpoints.ts';
import { createNetwork } from '../model/network.ts';
import { milestones, type Scenario } from '../model/scenario.ts';
import { createServer } from '../model/server.ts';
import { createVisitors, type Tab } from '../model/visitors.ts';
import type { OpenTab, TabContext } from '../policies/policy.ts';

/** How long what was asked before the end may take to be decided; the load goes on meanwhile. */
const longestAfterEndMs = 30_000;

/** Runs one policy through one scenario; `onSecond` is shown what has happened after each second. */
export async function runCell(
  scenario: Scenario,
  openTab: OpenTab,
  config: TabContext['config'] = {},
  onSecond?: (record: RunRecord, nowMs: number) => void,
): Promise<RunRecord> {
  const simulation = createSimulation();
  const { recoveryMs, endMs } = milestones(scenario);
  const { tabsPerBrowser, pageSize, brokenEndpoints } = scenario;
  const stream = (part: string) => randomStream(scenario.seed, part);
  const operations: AskedOperation[] = [];
  const arrivalsMs: number[] = [];
  const server = createServer(scenario, stream('server'));
  const fetch = createNetwork(simulation, server, (atMs, url) => {
    if (!isBroken(url, brokenEndpoints)) arrivalsMs.push(atMs);
  });
  const context = {
    clock: simulation.clock,
    random: stream('policy'),
    timeoutMs: scenario.timeoutS * 1000,
    isBackground: scenario.background === 1,
    config,
  };
  const open = (share: TabContext['share']): Tab => {
    let isClosed = false;
    const send: TabContext['fetch'] = (input, init) =>
      isClosed ? new Promise(() => {}) : fetch(input, init);
    return {
      ask: openTab({ ...context, share, fetch: pageSize > 0 ? send : fetch }),
      close() {
        isClosed = true;
      },
    };
  };
  const stayingTabs = pageSize > 0 ? 0 : scenario.tabs;
  const tabs = Array.from({ length: stayingTabs / tabsPerBrowser }, () => {
    const openPorts = createBrowser(simulation.clock);
    return Array.from({ length: tabsPerBrowser }, () =>
      open(tabsPerBrowser > 1 ? openPorts() : undefined),
    );
  }).flat();
  const visitors = createVisitors(simulation, scenario, stream('visitors'));
  let underWay = 0;

  const createOperation = (): AskedOperation => {
    const operation: AskedOperation = { askedMs: simulation.nowMs() };
    operations.push(operation);
    if (operation.askedMs < endMs) underWay++;
    return operation;
  };
  const overOf =
    ({ askedMs }: AskedOperation) =>
    (): void => {
      if (askedMs < endMs) underWay--;
    };
  const ask = (index: number): void => {
    const tab = tabs[index];
    if (!tab) throw new Error(`There is no tab ${index}.`);
    const operation = createOperation();
    visitors.visit(tab, operation, overOf(operation));
  };
  const load = (): void => {
    const page = Array.from({ length: pageSize }, createOperation);
    const [first] = page;
    if (first) visitors.load(open(undefined), page, overOf(first));
  };

  const arrivals = { ...scenario, rate: scenario.rate / Math.max(1, pageSize) };
  startArrivals(simulation, arrivals, stream('arrivals'), pageSize > 0 ? load : ask);
  if (scenario.pushAtS !== undefined) {
    simulation.at(recoveryMs + scenario.pushAtS * 1000, () => tabs.forEach((_, tab) => ask(tab)));
  }
  const restoreGlobals = installGlobals(context.clock, context.random, openTab.makesRequests);
  try {
    for (let atMs = 1000; onSecond && atMs <= endMs; atMs += 1000) {
      await simulation.run(atMs);
      onSecond({ operations, arrivalsMs }, atMs);
    }
    await simulation.run(endMs);
    const lateMs = endMs + longestAfterEndMs;
    for (let atMs = endMs; underWay > 0 && atMs < lateMs; atMs += 1000) {
      await simulation.run(atMs + 1000);
    }
  } finally {
    restoreGlobals();
  }
  return { operations: operations.filter(({ isOfBroken }) => !isOfBroken), arrivalsMs };
}
