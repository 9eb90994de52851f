import { randomStream } from '../engine/random-stream.ts';
import { createSimulation } from '../engine/simulation.ts';
import { installGlobals } from '../engine/virtual-globals.ts';
import { createBrowser } from '../model/browser.ts';
import { endpointUrl } from '../model/endpoints.ts';
import { createNetwork } from '../model/network.ts';
import type { Server } from '../model/server.ts';
import { installPage } from '../page/browser-page.ts';
import { type PageContext, type PagePolicyName, pagePolicies } from '../page/page-policies.ts';
import {
  createLimit,
  type Limit,
  oracleMs,
  type Refusal,
  type Shape,
  workOf,
} from './limit-server.ts';

/** Queries that are shown at once, in one or several tabs of a browser, before a server that has a limit. */
export interface LimitJob {
  readonly policy: PagePolicyName;
  readonly shape: Shape;
  readonly refusal: Refusal;
  readonly requests: number;
  readonly tabs: number;
  /** Over so many endpoints they are spread. @default 1 */
  readonly endpoints?: number;
  /** Each endpoint has a limit of its own, not all together. @default false */
  readonly isEachLimited?: boolean;
  readonly seed: number;
  readonly config?: PageContext['config'];
}

/** What one run showed. */
export interface LimitFigures {
  /** Queries that ended in an error, or not at all. */
  readonly lost: number;
  readonly sent: number;
  readonly refused: number;
  /** Of these, those that came before an answer could have told the client of the limit. */
  readonly refusedAtFirst: number;
  /** Until the last query had its answer, and the same where the limit is known. */
  readonly lastMs: number;
  readonly oracleMs: number;
}

const wayMs = 25;
/** Tabs that are restored together load within so long. */
const loadMs = 100;
const timeoutMs = 10_000;
/** By then every query has ended. */
const lengthMs = 200_000;

const inSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));

/** What the server was sent, and refused. */
interface Counts {
  sent: number;
  refused: number;
  refusedAtFirst: number;
}

/** `firstUntilMs`: what arrives until then was sent before any answer was there. */
function createLimitedServer(
  { shape, refusal, isEachLimited = false }: LimitJob,
  counts: Counts,
  firstUntilMs: number,
): Pick<Server, 'receive'> {
  const limits = new Map<string, Limit>();
  return {
    receive(atMs, url) {
      counts.sent++;
      const name = isEachLimited ? url.replace(/\d+$/, '') : '';
      const limit = limits.get(name) ?? createLimit(shape);
      limits.set(name, limit);
      const { isAllowed, remaining, resetInMs } = limit(atMs);
      const t = inSeconds(resetInMs);
      const fields = { ratelimit: `"limit";r=${remaining};t=${t}` };
      const told = refusal === 'RateLimit' && { fields };
      if (isAllowed) return { atMs: atMs + workOf(shape), status: 204, ...told };
      counts.refused++;
      if (atMs <= firstUntilMs) counts.refusedAtFirst++;
      if (refusal === 'hidden') return { atMs, status: 0 };
      if (refusal === '503') return { atMs, status: 503 };
      return {
        atMs,
        status: 429,
        ...told,
        ...(refusal === 'Retry-After' && { retryAfter: `${t}` }),
      };
    },
  };
}

export async function runLimits(job: LimitJob): Promise<LimitFigures> {
  const { policy, shape, requests, tabs, endpoints = 1, seed, config = {} } = job;
  const simulation = createSimulation();
  const { clock } = simulation;
  const arrivals = randomStream(seed, 'arrivals');
  const startsMs = Array.from({ length: tabs }, () => (tabs > 1 ? arrivals() * loadMs : 0));
  const lastStartMs = Math.max(...startsMs);
  const counts: Counts = { sent: 0, refused: 0, refusedAtFirst: 0 };
  const server = createLimitedServer(job, counts, lastStartMs + wayMs);
  const fetch = createNetwork(
    simulation,
    server,
    () => {},
    () => wayMs,
  );
  const random = randomStream(seed, 'policy');
  const restoreGlobals = installGlobals(clock, random);
  const browserPage = installPage('visible');
  const openPorts = createBrowser(clock);
  const pages = startsMs.map(() => {
    const share = tabs > 1 ? openPorts() : undefined;
    return pagePolicies[policy]({ clock, random, fetch, timeoutMs, config, share });
  });
  let [answered, lastMs] = [0, 0];
  const onOutcome = (isOk: boolean): void => {
    if (!isOk) return;
    answered++;
    lastMs = simulation.nowMs();
  };
  try {
    for (let id = 0; id < requests; id++) {
      const url = `${endpointUrl(id % endpoints)}/${id}`;
      simulation.at(startsMs[id % tabs] ?? 0, () => pages[id % tabs]?.show(url, { onOutcome }));
    }
    await simulation.run(lengthMs);
  } finally {
    for (const page of pages) page.close();
    browserPage.remove();
    restoreGlobals();
  }
  const ofOne = job.isEachLimited ? Math.ceil(requests / endpoints) : requests;
  const knownMs = Math.max(oracleMs(shape, ofOne), lastStartMs) + 2 * wayMs + workOf(shape);
  return { ...counts, lost: requests - answered, lastMs, oracleMs: knownMs };
}
