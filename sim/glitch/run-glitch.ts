import { randomStream } from '../engine/random-stream.ts';
import { createSimulation } from '../engine/simulation.ts';
import { installGlobals } from '../engine/virtual-globals.ts';
import { createNetwork } from '../model/network.ts';
import { installPage } from '../page/browser-page.ts';
import { type PageContext, type PagePolicyName, pagePolicies } from '../page/page-policies.ts';

/** A page of which some attempts fail, each by itself. */
export interface GlitchJob {
  readonly policy: PagePolicyName;
  readonly config?: PageContext['config'] | undefined;
  /** So many of all attempts fail, in [0, 1]. */
  readonly errors: number;
  /** 503, or a connection that breaks. */
  readonly kind: '503' | 'reset';
  /** How many queries it shows at once, every 3 s. */
  readonly atOnce: number;
  readonly seed: number;
}

/** What it showed. */
export interface GlitchRecord {
  /** How long the queries waited whose first attempt failed, beside that and a good one, in milliseconds; Infinity: an error. */
  readonly extraMs: readonly number[];
  readonly requests: number;
  readonly asked: number;
}

/** How many queries a run asks for. */
const asks = 3000;
const everyMs = 3000;
const endpointCount = 20;
const workMs = 20;
/** 25 ms each way, twice, and the work: a failed attempt and a good one. */
const twoAttemptsMs = 100 + workMs;

/** Runs a page that has been answered before, and shows queries that fail now and then. */
export async function runGlitch(job: GlitchJob): Promise<GlitchRecord> {
  const { policy, config = {}, errors, kind, atOnce, seed } = job;
  const simulation = createSimulation();
  const chance = randomStream(seed, 'server');
  const random = randomStream(seed, 'policy');
  const failedFirst = new Map<string, boolean>();
  const extraMs: number[] = [];
  let requests = 0;
  const receive = (arrivalMs: number, url: string) => {
    const isFailed = !url.endsWith('/first') && chance() < errors;
    requests++;
    if (!failedFirst.has(url)) failedFirst.set(url, isFailed);
    if (!isFailed) return { atMs: arrivalMs + workMs, status: 204 };
    return { atMs: arrivalMs, status: kind === 'reset' ? 0 : 503 };
  };
  const fetch = createNetwork(simulation, { receive }, () => {});
  const restoreGlobals = installGlobals(simulation.clock, random);
  const browserPage = installPage('visible');
  const context = { clock: simulation.clock, random, fetch, timeoutMs: 10_000, config };
  const page = pagePolicies[policy](context);
  try {
    page.show('https://api.example/first', {});
    for (let index = 0; index < asks; index++) {
      const askedMs = everyMs * (1 + Math.floor(index / atOnce));
      const url = `https://api.example/${String.fromCodePoint(97 + (index % endpointCount))}/${index}`;
      simulation.at(askedMs, () => {
        const stop = page.show(url, {
          onOutcome(isOk) {
            const ms = isOk ? simulation.nowMs() - askedMs - twoAttemptsMs : Infinity;
            if (failedFirst.get(url)) extraMs.push(ms);
            simulation.at(simulation.nowMs(), () => stop());
          },
        });
      });
    }
    await simulation.run(everyMs * (asks / atOnce + 1) + 100_000);
  } finally {
    page.close();
    browserPage.remove();
    restoreGlobals();
  }
  return { extraMs, requests, asked: asks };
}
