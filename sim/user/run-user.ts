import { randomStream } from '../engine/random-stream.ts';
import { createSimulation } from '../engine/simulation.ts';
import { installGlobals } from '../engine/virtual-globals.ts';
import { createNetwork } from '../model/network.ts';
import type { Reply } from '../model/server.ts';
import { installPage } from '../page/browser-page.ts';
import type { OpenPage, PageContext } from '../page/page-policies.ts';
import type { UserScenario } from './user-scenario.ts';

/** One query of the page: when it was asked for, and what its user saw first. */
export interface ShownQuery {
  readonly askedMs: number;
  /** Absent: still under way at the end of the run. */
  settledMs?: number;
  isOk?: boolean;
}

/** What happened in one run; times count from the start of the outage. */
export interface UserRecord {
  readonly queries: readonly ShownQuery[];
  /** Requests from the start of the outage on. */
  readonly requests: number;
}

/** When the outage begins: before it, a page may have been used. */
const startMs = 60_000;

/** How long what the server does takes. */
const workMs = 20;

/** How often a page that is used asks for something. */
const usedEveryMs = 3000;

/** Staggered queries come within this time, or within half of an outage that is shorter. */
const staggerMs = 3000;

/** How long the run goes on after recovery, where something is still under way. */
const longestMs = 120_000;

/** What the queries of a page are about: an endpoint each. */
const resources = ['users', 'orders', 'products', 'carts', 'news', 'offers', 'prices', 'stores'];

const urlOf = (id: number): string =>
  `https://api.example/${resources[id % resources.length]}/${id}`;

/** Runs one lone page through one outage. */
export async function runUser(
  scenario: UserScenario,
  openPage: OpenPage,
  config: PageContext['config'] = {},
): Promise<UserRecord> {
  const { kind, outageS, queries: count, order, page: age, timeoutMs, seed } = scenario;
  const { answerMs = workMs } = scenario;
  const simulation = createSimulation();
  const random = randomStream(seed, `user ${outageS}`);
  const outageMs = outageS * 1000;
  const recoveryMs = startMs + outageMs;
  let requests = 0;

  const receive = (arrivalMs: number): Reply | undefined => {
    if (arrivalMs >= startMs) requests++;
    if (arrivalMs < startMs) return { atMs: arrivalMs + workMs, status: 204 };
    if (arrivalMs >= recoveryMs) return { atMs: arrivalMs + answerMs, status: 204 };
    if (kind === 'hang') return undefined;
    const leftS = Math.ceil((recoveryMs - arrivalMs) / 1000);
    const retryAfter = kind === 'retry-after' ? `${leftS}` : undefined;
    const status = kind === 'reset' ? 0 : kind === '500' ? 500 : 503;
    return { atMs: arrivalMs, status, retryAfter };
  };
  const fetch = createNetwork(simulation, { receive }, () => {});
  const policyRandom = randomStream(seed, `policy ${outageS}`);
  const restoreGlobals = installGlobals(simulation.clock, policyRandom, openPage.makesRequests);
  const browserPage = installPage('visible');
  try {
    const context = { clock: simulation.clock, random: policyRandom, fetch, timeoutMs };
    const page = openPage({ ...context, config });
    const shown: ShownQuery[] = [];
    let open = count;
    const show = (index: number): void => {
      const query: ShownQuery = { askedMs: simulation.nowMs() - startMs };
      shown.push(query);
      page.show(urlOf(1000 + index), {
        onOutcome(isOk) {
          query.settledMs = simulation.nowMs() - startMs;
          query.isOk = isOk;
          open--;
        },
      });
    };
    const spreadMs = order === 'at once' ? 0 : Math.min(staggerMs, outageMs / 2);
    const delays = Array.from({ length: count - 1 }, () => random() * spreadMs);
    [0, ...delays.toSorted((a, b) => a - b)].forEach((delayMs, index) => {
      simulation.at(startMs + delayMs, () => show(index));
    });
    if (age === 'used') {
      for (let at = usedEveryMs, index = 0; at < startMs; at += usedEveryMs, index++) {
        const url = urlOf(index);
        simulation.at(at - random() * 1000, () => page.show(url, {}));
      }
    }
    const endMs = recoveryMs + longestMs;
    for (let atMs = startMs; open > 0 && atMs < endMs; atMs += 1000) await simulation.run(atMs);
    page.close();
    return { queries: shown, requests };
  } finally {
    browserPage.remove();
    restoreGlobals();
  }
}
