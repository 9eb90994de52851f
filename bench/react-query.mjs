import { spawnSync } from 'node:child_process';
import { median } from './measure.mjs';

// What Steadfetch costs in React Query, side by side with React Query's own, in one run. Each figure
// is of a process of its own: `node bench/react-query.mjs <bare | steady> <measurement> <count>`.
const [which, measurement, count] = process.argv.slice(2);

/** Timers that ring when told to, so that no wait is waited for. */
function createTimers() {
  const due = new Map();
  let last = 0;
  return {
    setTimeout(callback) {
      due.set(++last, callback);
      return last;
    },
    clearTimeout: (handle) => void due.delete(handle),
    setInterval: () => 0,
    clearInterval() {},
    ring() {
      const callbacks = [...due.values()];
      due.clear();
      for (const callback of callbacks) callback();
    },
  };
}

/** Microseconds of processor time: what else runs on the machine does not count. */
const cpuSince = (start) => {
  const { user, system } = process.cpuUsage(start);
  return user + system;
};

/** The first one, and three retries. */
const attempts = 4;

const turn = () => new Promise((resolve) => setImmediate(resolve));

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
  const { queries } = which === 'steady' ? ours : own;
  const defaultOptions = { queries: { ...queries, gcTime: Infinity } };
  return { client: new QueryClient({ defaultOptions }), timers };
}

const measurements = {
  /** So many queries that fail all at once, again and again: microseconds of CPU for one attempt. */
  async failing(queries) {
    const { client, timers } = await createClient();
    const response = { status: 503, headers: new Headers() };
    const queryFn = () => Promise.reject(Object.assign(new Error('503'), { response }));
    const rounds = Math.max(6, Math.round(30_000 / queries));
    const figures = [];
    for (let round = 0; round < rounds; round++) {
      const start = process.cpuUsage();
      let left = queries;
      const end = () => void left--;
      for (let index = 0; index < queries; index++)
        client
          .fetchQuery({
            queryKey: [index],
            queryFn,
            retry: client.getDefaultOptions().queries.retry,
          })
          .catch(end);
      for (await turn(); left > 0; await turn()) timers.ring();
      figures.push(cpuSince(start) / (queries * attempts));
    }
    return median(figures.slice(rounds >> 1));
  },

  /** Queries that succeed at once, one after the other: microseconds of CPU for one. */
  async succeeding(queries) {
    const { client } = await createClient();
    const queryFn = () => Promise.resolve('fine');
    const figures = [];
    for (let block = 0; block < 40; block++) {
      const start = process.cpuUsage();
      for (let index = 0; index < queries; index++)
        await client.fetchQuery({ queryKey: ['products', 3], queryFn });
      figures.push(cpuSince(start) / queries);
    }
    return median(figures.slice(20));
  },
};

if (process.argv[1] === import.meta.filename)
  console.log(await measurements[measurement](Number(count)));

/** @returns For each measurement, the microseconds of React Query alone and with Steadfetch. */
export function compareReactQuery({ runs = 5 } = {}) {
  const of = (name, kind, queries) => {
    const args = [import.meta.filename, name, kind, String(queries)];
    const env = { ...process.env, NODE_ENV: 'production' };
    const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  };
  return [
    ['failing', 100],
    ['failing', 1000],
    ['failing', 10_000],
    ['succeeding', 2000],
  ].map(([kind, queries]) => {
    const figures = { bare: [], steady: [] };
    for (let run = 0; run < runs; run++)
      for (const name of ['bare', 'steady']) figures[name].push(of(name, kind, queries));
    const [bare, steady] = [median(figures.bare), median(figures.steady)];
    return { kind, queries, bare, steady, ratio: steady / bare, more: steady - bare };
  });
}
