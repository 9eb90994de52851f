import { randomStream } from '../engine/random-stream.ts';
import { createSimulation } from '../engine/simulation.ts';
import { type Cause, createWorld } from './slow-worlds.ts';

/** When a second read goes beside the first. */
export type Hedging = 'none' | 'endpoint' | 'origin' | 'fixed';

/** A user's tab: how many reads it makes, of how many endpoints, and how far apart. */
export interface Visit {
  readonly reads: number;
  readonly endpoints: number;
  readonly everyMs: number;
}

/** What one run has shown. */
export interface HedgingRecord {
  /** How long each read took for its user, in milliseconds. */
  readonly latenciesMs: readonly number[];
  readonly hedges: number;
  /** Hedges that were answered first. */
  readonly won: number;
}

/** So many answers of an endpoint make a 95th percentile. */
const leastSamples = 20;
const mostSamples = 100;
/** The `hedgingDelay` of a service config of gRPC, as A6 shows it. */
const fixedMs = 500;
/** Each read gives so much of a hedge: no more than one read in twenty is sent twice. */
const tokenPerRead = 0.05;
const mostTokens = 3;

/** The 95th percentile of the latest answers; undefined where there are too few. */
function p95(samples: readonly number[]): number | undefined {
  if (samples.length < leastSamples) return undefined;
  return samples.toSorted((a, b) => a - b)[Math.floor(0.95 * samples.length)];
}

/** Runs tabs in a world where some reads are slow. */
export async function runHedging(
  cause: Cause,
  visit: Visit,
  hedging: Hedging,
  seed: number,
): Promise<HedgingRecord> {
  const simulation = createSimulation();
  const world = createWorld(cause, visit.everyMs, seed);
  const latenciesMs: number[] = [];
  let hedges = 0;
  let won = 0;
  const endMs = visit.reads * visit.everyMs;
  for (let tab = 0; tab < world.tabs; tab++) {
    const random = randomStream(seed, `tab ${tab}`);
    const known = new Map<number, number[]>();
    let tokens = 1;
    /** Its latest answer was late: then all of them may be, and one more would be, too. */
    let isSlow = false;
    let atMs = random() * visit.everyMs;
    for (let read = 0; read < visit.reads; read++) {
      atMs += -Math.log(1 - random()) * visit.everyMs;
      // Some endpoints are read more often than others.
      const endpoint = Math.floor(visit.endpoints * random() ** 2);
      const url = Math.floor(random() * 1000);
      simulation.at(atMs, () => {
        tokens = Math.min(mostTokens, tokens + tokenPerRead);
        const startMs = simulation.nowMs();
        const scope = hedging === 'origin' ? 0 : endpoint;
        const samples = known.get(scope) ?? [];
        known.set(scope, samples);
        const end = (wasHedge: boolean): void => {
          if (isOver) return;
          isOver = true;
          if (wasHedge) won++;
          const latencyMs = simulation.nowMs() - startMs;
          isSlow = lateMs !== undefined && latencyMs > lateMs;
          latenciesMs.push(latencyMs);
          samples.push(latencyMs);
          if (samples.length > mostSamples) samples.shift();
        };
        let isOver = false;
        const lateMs = hedging === 'fixed' ? fixedMs : p95(samples);
        simulation.at(world.answerAt(startMs, tab, url), () => end(false));
        if (hedging === 'none' || lateMs === undefined) return;
        simulation.at(startMs + lateMs, () => {
          if (isOver || isSlow || tokens < 1) return;
          tokens--;
          hedges++;
          simulation.at(world.answerAt(simulation.nowMs(), tab, url), () => end(true));
        });
      });
    }
  }
  await simulation.run(endMs * 2 + 60_000);
  return { latenciesMs, hedges, won };
}
