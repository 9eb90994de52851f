import { randomStream } from '../engine/random-stream.ts';
import { createSimulation } from '../engine/simulation.ts';
import { installGlobals } from '../engine/virtual-globals.ts';
import { type Cause, createWorld } from '../hedging/slow-worlds.ts';
import { createNetwork } from '../model/network.ts';
import { installPage } from '../page/browser-page.ts';
import { type PageContext, pagePolicies } from '../page/page-policies.ts';

/** Tabs that read, and of which some reads are lost: each waits for an answer that never comes. */
export interface ReadsJob {
  readonly cause: Cause;
  readonly lostShare: number;
  readonly reads: number;
  readonly everyMs: number;
  readonly seed: number;
  readonly config?: PageContext['config'];
}

/** What one run has shown. */
export interface ReadsRecord {
  /** How long each read took for its user, in milliseconds. */
  readonly waitsMs: readonly number[];
  /** The same of those whose first request was lost. */
  readonly lostWaitsMs: readonly number[];
  readonly failed: number;
  readonly requests: number;
}

const endpointCount = 8;
const timeoutMs = 10_000;

/** Runs tabs in a world where some reads are slow, and some are lost. */
export async function runReads(job: ReadsJob): Promise<ReadsRecord> {
  const { cause, lostShare, reads, everyMs, seed, config = {} } = job;
  const simulation = createSimulation();
  const world = createWorld(cause, everyMs, seed);
  const losses = randomStream(seed, 'losses');
  const policyRandom = randomStream(seed, 'policy');
  const restoreGlobals = installGlobals(simulation.clock, policyRandom);
  const browserPage = installPage('visible');
  const sent = new Set<string>();
  const lost = new Set<string>();
  const waitsMs: number[] = [];
  const lostWaitsMs: number[] = [];
  let failed = 0;
  let requests = 0;
  const pages = Array.from({ length: world.tabs }, (_, tab) => {
    const receive = (atMs: number, url: string) => {
      requests++;
      const isFirst = !sent.has(url);
      sent.add(url);
      // Drawn for each read, so that both ways lose the same.
      if (isFirst && losses() < lostShare) {
        lost.add(url);
        return undefined;
      }
      const id = Number(url.split('/')[4]);
      return { atMs: world.answerAt(atMs, tab, id % 1000), status: 204 };
    };
    // The world counts the way.
    const fetch = createNetwork(
      simulation,
      { receive },
      () => {},
      () => 0,
    );
    const { clock } = simulation;
    return pagePolicies.steadfetch({ clock, random: policyRandom, fetch, timeoutMs, config });
  });
  try {
    let id = 0;
    pages.forEach((page, tab) => {
      const random = randomStream(seed, `tab ${tab}`);
      let atMs = random() * everyMs;
      for (let read = 0; read < reads; read++) {
        atMs += -Math.log(1 - random()) * everyMs;
        const endpoint = Math.floor(endpointCount * random() ** 2);
        const url = `https://api.example/endpoint-${String.fromCodePoint(97 + endpoint)}/${++id}`;
        simulation.at(atMs, () => {
          const startMs = simulation.nowMs();
          const stop = page.show(url, {
            onOutcome(isOk) {
              const waitMs = simulation.nowMs() - startMs;
              if (!isOk) failed++;
              waitsMs.push(waitMs);
              if (lost.has(url)) lostWaitsMs.push(waitMs);
              simulation.at(simulation.nowMs(), () => stop());
            },
          });
        });
      }
    });
    await simulation.run(reads * everyMs * 2 + 120_000);
    for (const page of pages) page.close();
  } finally {
    browserPage.remove();
    restoreGlobals();
  }
  return { waitsMs, lostWaitsMs, failed, requests };
}
