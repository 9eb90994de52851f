import { randomStream } from '../engine/random-stream.ts';
import { createSimulation, type Simulation } from '../engine/simulation.ts';
import { installGlobals } from '../engine/virtual-globals.ts';
import { startArrivals } from '../model/arrivals.ts';
import { createNetwork } from '../model/network.ts';
import type { Reply } from '../model/server.ts';
import { type BrowserPage, installPage } from '../page/browser-page.ts';
import {
  type Page,
  type PageContext,
  type PagePolicyName,
  pagePolicies,
} from '../page/page-policies.ts';
import {
  endpointCount,
  type PartialFigures,
  type PartialKind,
  timeoutMs,
} from './partial-scenario.ts';

export interface PartialJob {
  readonly policy: PagePolicyName;
  readonly kind: PartialKind;
  readonly seed: number;
  /** 200 where it is not given; as many page loads. */
  readonly tabs?: number;
  readonly config?: PageContext['config'];
}

/** A query of an endpoint that is well. */
interface Shown {
  readonly askedMs: number;
  settledMs?: number;
  isOk?: boolean;
  isPaused: boolean;
}

const defaultTabs = 200;

/** Each tab opens a view every 10 s on average, for five minutes. */
const viewRate = 0.1;
const lengthMs = 300_000;

/** How many queries of endpoints that are well, or may be, a view shows. */
const queriesOfView = 3;

/** How many queries a page load has, and when it is late. */
const queriesOfLoad = 30;
const lateMs = 5000;

/** React Query's last retry is 7 s after the first attempt. */
const promptMs = 8000;

/** What the server does for a request. */
const workMs = 20;

/** How long a tab has been used before it loses its network. */
const usedMs = 60_000;
const offlineMs = 5000;

/** One way, over Wi-Fi and in a mobile network. */
const [wifiWayMs, mobileWayMs] = [25, 200];

/** Runs 200 tabs beside something that is broken, 200 page loads, or one page that changes networks. */
export async function runPartial(job: PartialJob): Promise<PartialFigures> {
  const { kind, seed, policy, tabs = defaultTabs, config = {} } = job;
  const simulation = createSimulation();
  const isMobile = kind.startsWith('mobile');
  const isLoad = kind.includes('errors');
  const shown: Shown[] = [];
  const loads: number[] = [];
  let completeMs = NaN;
  const random = randomStream(seed, 'user');
  const errors = randomStream(seed, 'server');
  const errorShare = Number.parseInt(kind) / 100;
  const broken = brokenIn(kind);
  const receive = (atMs: number, url: string): Reply | undefined => {
    const isBroken = url.includes('/widget/') || broken.some((one) => url.includes(`/${one}/`));
    const status = isLoad && errors() < errorShare ? 503 : 204;
    if (!isBroken || isLoad || isMobile) return { atMs: atMs + workMs, status };
    if (kind.endsWith('broken')) return { atMs: atMs + workMs, status: 503 };
    if (kind === 'one takes 12 s') return { atMs: atMs + 12_000, status };
    if (!kind.includes('429')) return undefined;
    return { atMs: atMs + workMs, status: 429, retryAfter: kind.endsWith('30 s') ? '30' : '3600' };
  };
  const wayAt = (atMs: number): number | undefined => {
    if (!isMobile || atMs < usedMs) return wifiWayMs;
    return atMs < usedMs + offlineMs ? undefined : mobileWayMs;
  };
  const fetch = createNetwork(simulation, { receive }, () => {}, wayAt);
  const policyRandom = randomStream(seed, 'policy');
  const restoreGlobals = installGlobals(simulation.clock, policyRandom);
  const browserPage = installPage('visible');
  const pages: Page[] = [];
  const openPage = (): Page => {
    const context = { clock: simulation.clock, random: policyRandom, fetch, timeoutMs, config };
    const page = pagePolicies[policy](context);
    pages.push(page);
    return page;
  };
  let id = 0;
  /** Shows a query until it is decided. */
  const show = (page: Page, endpoint: string, isHealthy = true): Promise<void> =>
    new Promise((resolve) => {
      const query: Shown = { askedMs: simulation.nowMs(), isPaused: false };
      if (isHealthy) shown.push(query);
      const stop = page.show(`https://api.example/${endpoint}/${++id}`, {
        onPause() {
          query.isPaused = true;
        },
        onOutcome(isOk) {
          query.settledMs = simulation.nowMs();
          query.isOk = isOk;
          simulation.at(simulation.nowMs(), () => stop());
          resolve();
        },
      });
    });
  const endpoints = kind.endsWith('one endpoint') ? 1 : endpointCount;
  const parts = { tabs, endpoints, simulation, random, openPage, show, browserPage };
  try {
    if (isMobile) {
      const isOffline = kind.endsWith('offline');
      completeMs = await changeNetworks(parts, isOffline);
    } else if (isLoad) await loadPages(parts, loads);
    else await viewPages(parts, kind);
    for (const page of pages) page.close();
  } finally {
    browserPage.remove();
    restoreGlobals();
  }
  const ok = shown.filter(({ isOk }) => isOk);
  const share = (count: number, of: number): number => count / of;
  return {
    asked: shown.length,
    failed: share(shown.length - ok.length, shown.length),
    paused: share(shown.filter(({ isPaused }) => isPaused).length, shown.length),
    meanMs: share(
      ok.reduce((sum, { askedMs, settledMs = 0 }) => sum + settledMs - askedMs, 0),
      ok.length,
    ),
    prompt: share(
      ok.filter(({ askedMs, settledMs = 0 }) => settledMs - askedMs <= promptMs).length,
      shown.length,
    ),
    late: share(loads.filter((ms) => ms > lateMs).length, loads.length),
    completeMs,
  };
}

interface Parts {
  readonly tabs: number;
  readonly endpoints: number;
  readonly simulation: Simulation;
  readonly random: () => number;
  readonly openPage: () => Page;
  readonly show: (page: Page, endpoint: string, isHealthy?: boolean) => Promise<void>;
  readonly browserPage: BrowserPage;
}

/** The first ones may be broken. */
const endpointAt = (index: number): string => `endpoint-${String.fromCodePoint(97 + index)}`;

const counts: Readonly<Record<string, number>> = { two: 2, three: 3, five: 5 };

function brokenIn(kind: PartialKind): readonly string[] {
  const length = counts[kind.split(' ')[0] ?? ''] ?? 1;
  return Array.from({ length }, (_, index) => endpointAt(index));
}

async function viewPages(
  { tabs, simulation, random, openPage, show }: Parts,
  kind: PartialKind,
): Promise<void> {
  const pages = Array.from({ length: tabs }, openPage);
  startArrivals(simulation, { tabs, rate: viewRate }, random, (tab) => {
    const page = pages[tab];
    if (!page || simulation.nowMs() >= lengthMs) return;
    const isWidget = kind === 'widget hangs';
    const broken = brokenIn(kind).length;
    if (isWidget) void show(page, 'widget', false);
    for (let count = 0; count < queriesOfView; count++) {
      // With the widget, all of them are well.
      const index = isWidget ? 1 + random() * (endpointCount - 1) : random() * endpointCount;
      void show(page, endpointAt(Math.floor(index)), index >= broken);
    }
  });
  // What is paused at the end is decided within a minute more.
  await simulation.run(lengthMs + 100_000);
}

async function loadPages(
  { tabs, simulation, openPage, show, endpoints }: Parts,
  loads: number[],
): Promise<void> {
  for (let load = 0; load < tabs; load++) {
    simulation.at(load * 100, () => {
      const page = openPage();
      const queries = Array.from({ length: queriesOfLoad }, (_, index) =>
        show(page, endpointAt(index % endpoints)),
      );
      loads.push(Infinity);
      const complete = async (): Promise<void> => {
        await Promise.all(queries);
        loads[load] = simulation.nowMs() - load * 100;
      };
      void complete();
    });
  }
  await simulation.run(200_000);
}

async function changeNetworks(
  { simulation, random, openPage, show, browserPage }: Parts,
  isShownOffline: boolean,
): Promise<number> {
  const page = openPage();
  for (let atMs = 1000; atMs < usedMs - 1000; atMs += 1500) {
    simulation.at(atMs + random() * 1000, () => {
      void show(page, endpointAt(Math.floor(random() * endpointCount)));
    });
  }
  const backMs = usedMs + offlineMs;
  let completeMs = Infinity;
  simulation.at(usedMs, () => browserPage.setOnline(false));
  simulation.at(backMs, () => browserPage.setOnline(true));
  simulation.at(isShownOffline ? backMs - 2000 : backMs + 500, () => {
    const fromMs = Math.max(backMs, simulation.nowMs());
    const queries = Array.from({ length: queriesOfLoad }, (_, index) =>
      show(page, endpointAt(index % endpointCount)),
    );
    const complete = async (): Promise<void> => {
      await Promise.all(queries);
      completeMs = simulation.nowMs() - fromMs;
    };
    void complete();
  });
  await simulation.run(backMs + 120_000);
  return completeMs;
}
