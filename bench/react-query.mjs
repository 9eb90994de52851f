import { spawnSync } from 'node:child_process';
import { median } from './measure.mjs';
import { createTimers, turn } from './timers.mjs';

// What Steadfetch costs in React Query, side by side with React Query's own, in one run. Each figure
// is of a process of its own: `node bench/react-query.mjs <measurement> <who> <count>`.
const [measurement, who, count] = process.argv.slice(2);

// A bundler writes the value in the place of process.env.NODE_ENV, which Node looks up for half a
// microsecond each time: here it is a property like any other.
process.env = { ...process.env };

async function createClient() {
  const { QueryClient, environmentManager, notifyManager, timeoutManager } =
    await import('@tanstack/react-query');
  const { createSteadfetch } = await import('../dist/index.js');
  const timers = createTimers();
  timeoutManager.setTimeoutProvider(timers);
  notifyManager.setScheduler(queueMicrotask);
  environmentManager.setIsServer(() => false);
  const { defaultOptions: ours } = createSteadfetch();
  // Three retries, as with ours.
  const own = { queries: { retry: 3 } };
  const { queries } = who === 'steady' ? ours : own;
  const defaultOptions = { queries: { ...queries, gcTime: Infinity } };
  return { client: new QueryClient({ defaultOptions }), timers };
}

/** What other clients reject with. */
function createFailure() {
  const response = { status: 503, headers: new Headers() };
  return () => Promise.reject(Object.assign(new Error('503'), { response }));
}

async function failAll(client, timers, queries, queryFn) {
  const { retry } = client.getDefaultOptions().queries;
  let left = queries;
  const end = () => void left--;
  for (let index = 0; index < queries; index++)
    client.fetchQuery({ queryKey: [index], queryFn, retry }).catch(end);
  for (await turn(); left > 0; await turn()) timers.ring();
}

const measurements = {
  /** So many queries that have failed, and whose client was cleared: bytes kept for one. */
  async memory(queries) {
    const { client, timers } = await createClient();
    const queryFn = createFailure();
    const heap = async () => {
      for (let times = 0; times < 4; times++) {
        await turn();
        globalThis.gc();
      }
      return process.memoryUsage().heapUsed;
    };
    const fail = async () => {
      await failAll(client, timers, queries, queryFn);
      client.clear();
    };
    // Twice before: code is compiled, and tables have grown.
    await fail();
    await fail();
    const before = await heap();
    await fail();
    return ((await heap()) - before) / queries;
  },

  /** So many components, each with a query that fails four times: renders of one. */
  async rendering(components) {
    const { showAll } = await import('./components.mjs');
    const { client, timers } = await createClient();
    return showAll(client, timers, components, createFailure(), who === 'steady');
  },

  /** So many requests that are paused, told, and let go: the longest task, in milliseconds of CPU. */
  async paused(requests) {
    const { pause } = await import('./paused.mjs');
    return (await pause(requests)).longestMs;
  },

  /** Ten times as many: how many times as long each of them takes. */
  async growth(requests) {
    const { pause } = await import('./paused.mjs');
    // Before, code is compiled.
    await pause(requests);
    const few = await pause(requests);
    const many = await pause(10 * requests);
    return many.totalMs / few.totalMs / 10;
  },
};

if (process.argv[1] === import.meta.filename)
  console.log(await measurements[measurement](Number(count)));

function measure(name, contender, number) {
  const args = ['--expose-gc', import.meta.filename, name, contender, String(number)];
  const env = { ...process.env, NODE_ENV: 'production' };
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
}

const rows = [
  ['rendering', 'a component of 1,000 whose query fails 4 times', 'renders', 1000],
  ['memory', 'one of 10,000 failed queries, after clear()', 'bytes', 10_000],
  ['paused', 'the longest task of 8,000 paused requests', 'ms', 8000],
  ['growth', 'one of 10,000 paused requests, beside one of 1,000', 'times', 1000],
];

/** @returns For each row, the figure of React Query alone, and with Steadfetch. */
export function compareReactQuery({ runs = 5 } = {}) {
  return rows.map(([name, what, unit, number]) => {
    const isAlone = name === 'paused' || name === 'growth';
    const figures = { other: [], steady: [] };
    for (let run = 0; run < runs; run++) {
      // In turns, so that a busy machine disturbs both.
      if (!isAlone) figures.other.push(measure(name, 'bare', number));
      figures.steady.push(measure(name, 'steady', number));
    }
    const steady = median(figures.steady);
    const alone = isAlone ? undefined : median(figures.other);
    // React Query alone keeps nothing, so a ratio to it says nothing.
    const ratio = name === 'memory' ? undefined : alone && steady / alone;
    return { what, unit, alone, steady, ratio };
  });
}
