import { randomStream } from '../engine/random-stream.ts';

/** Why some reads are slow. */
export type Cause = 'replica' | 'read' | 'network' | 'overload';

/** A network and a server, as tabs see them. */
export interface World {
  readonly tabs: number;
  /** When a read that a tab sends is answered, in milliseconds. */
  readonly answerAt: (sentMs: number, tab: number, url: number) => number;
}

/** One read in twenty-five is slow, by 0.5 to 3 s. */
const slowShare = 0.04;
const leastSlowMs = 500;
const mostSlowMs = 3000;
/** There and back. */
const wayMs = 50;
const workMs = 40;

/** What is slow for a while, for all that is under way. */
interface Stall {
  readonly fromMs: number;
  readonly toMs: number;
}

/** So many workers, busy for this part of their time with the reads of so many tabs. */
const workers = 4;
const load = 0.9;
const overloadedTabs = 20;

/** Makes a world in which some reads are slow for this cause. `everyMs`: how far apart a tab's reads are. */
export function createWorld(cause: Cause, everyMs: number, seed: number): World {
  const random = randomStream(seed, `world ${cause}`);
  const exponential = (meanMs: number): number => -Math.log(1 - random()) * meanMs;
  const slowMs = (): number => leastSlowMs + random() * (mostSlowMs - leastSlowMs);
  const meanSlowMs = (leastSlowMs + mostSlowMs) / 2;
  const usual = (sentMs: number): number => sentMs + wayMs + exponential(workMs);

  if (cause === 'replica') {
    return {
      tabs: 1,
      answerAt: (sentMs) => usual(sentMs) + (random() < slowShare ? slowMs() : 0),
    };
  }
  if (cause === 'read') {
    const slow = new Map(
      Array.from({ length: 1000 }, (_, url) => [url, random() < slowShare ? slowMs() : 0]),
    );
    return { tabs: 1, answerAt: (sentMs, _, url) => usual(sentMs) + (slow.get(url) ?? 0) };
  }
  if (cause === 'overload') {
    const free = Array.from({ length: workers }, () => 0);
    return {
      tabs: overloadedTabs,
      answerAt(sentMs) {
        const [first = 0] = free.toSorted((a, b) => a - b);
        const startMs = Math.max(sentMs + wayMs / 2, first);
        const endMs = startMs + exponential((load * workers * everyMs) / overloadedTabs);
        free[free.indexOf(first)] = endMs;
        return endMs + wayMs / 2;
      },
    };
  }
  // A lost packet holds up all of its connection, which a second read shares, and a dead spot all of the network.
  const stalls: Stall[] = [];
  const untilStall = (meanSlowMs * (1 - slowShare)) / slowShare;
  let lastMs = 0;
  const stallAt = (atMs: number): Stall | undefined => {
    while (lastMs <= atMs) {
      const fromMs = lastMs + exponential(untilStall);
      lastMs = fromMs + slowMs();
      stalls.push({ fromMs, toMs: lastMs });
    }
    return stalls.findLast(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs);
  };
  return {
    tabs: 1,
    answerAt(sentMs) {
      const leavesMs = stallAt(sentMs)?.toMs ?? sentMs;
      const endMs = usual(leavesMs);
      return stallAt(endMs)?.toMs ?? endMs;
    },
  };
}
