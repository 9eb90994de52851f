import { spawnSync } from 'node:child_process';
import { median } from './measure.mjs';
import { cpuSince, skipWaits, turn } from './timers.mjs';

// What an answer over HTTP costs: a stub behind `fetch`, bodies of JSON, and every way to ask for it in
// one process, in turns. `node bench/http.mjs '{"failures":2,"atOnce":1,"calls":20,"warmUp":2,"names":[…]}'`.

const origin = 'https://api.example/v1/things/';
const init = { headers: { 'content-type': 'application/json' } };
const failed = JSON.stringify({ code: 'unavailable', message: 'The service restarts.' });

/** Answers with a failure as often as was asked for, and then as `stub` does. */
async function installFetch(status) {
  const { stub } = await import('./stub.mjs');
  const failuresLeft = new Map();
  globalThis.fetch = async (input) => {
    const url = typeof input === 'string' ? input : input.url;
    const left = failuresLeft.get(url) ?? 0;
    if (left === 0) return stub();
    failuresLeft.set(url, left - 1);
    return new Response(failed, { ...init, status });
  };
  return failuresLeft;
}

/** What an app writes without Steadfetch. */
async function readJson(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw Object.assign(new Error(`HTTP ${response.status}`), { response });
  return response.json();
}

/** Each makes what asks for one URL, with three retries that wait for nothing, and what forgets all of it. */
const contenders = {
  bare: async () => ({
    async ask(url, failures) {
      for (let index = 0; index < failures; index++) await fetch(url);
      return readJson(url);
    },
  }),

  'React Query': async () => createQueries({ retry: 3, retryDelay: 0 }, readJson),

  'fetchQuery, with Steadfetch': async () => {
    const { defaultOptions, json } = await createSteady();
    return createQueries(defaultOptions.queries, json);
  },

  'steady.json': async () => {
    const { json } = await createSteady();
    return { ask: (url) => json(url) };
  },

  retry: async () => {
    const { retry } = await import('../dist/index.js');
    const steady = await createSteady();
    return { ask: (url) => retry(steady, ({ signal }) => steady.json(url, { signal })) };
  },

  'p-retry': async () => {
    const { default: pRetry } = await import('p-retry');
    const options = { retries: 3, minTimeout: 0, factor: 1 };
    return { ask: (url) => pRetry(() => readJson(url), options) };
  },

  cockatiel: async () => {
    const { wrap, handleAll, ...cockatiel } = await import('cockatiel');
    const policies = wrap(
      cockatiel.retry(handleAll, { maxAttempts: 3, backoff: new cockatiel.ConstantBackoff(0) }),
      cockatiel.circuitBreaker(handleAll, {
        halfOpenAfter: 10_000,
        breaker: new cockatiel.ConsecutiveBreaker(Infinity),
      }),
      cockatiel.bulkhead(Infinity),
      cockatiel.timeout(10_000, cockatiel.TimeoutStrategy.Aggressive),
    );
    return { ask: (url) => policies.execute(({ signal }) => readJson(url, { signal })) };
  },

  ky: async () => {
    const { default: ky } = await import('ky');
    const api = ky.create({ timeout: 10_000, retry: { limit: 3, delay: () => 0 } });
    return { ask: (url) => api(url).json() };
  },
};

/** Nothing is taken for down: what is paused takes no processor time, and ends when a probe does. */
async function createSteady() {
  const { createSteadfetch } = await import('../dist/index.js');
  return createSteadfetch({ policy: { baseMs: 0 }, health: { maxChance: 0 } });
}

async function createQueries(queries, read) {
  const { QueryClient, environmentManager } = await import('@tanstack/react-query');
  environmentManager.setIsServer(() => false);
  const client = new QueryClient({ defaultOptions: { queries: { ...queries, gcTime: Infinity } } });
  const { retry } = queries;
  return {
    ask: (url) =>
      client.fetchQuery({ queryKey: [url], queryFn: ({ signal }) => read(url, { signal }), retry }),
    forget: () => client.clear(),
  };
}

/** Microseconds of CPU for one URL, of each of the named contenders. */
async function measureAll({ failures, status = 503, atOnce, calls, warmUp, rounds, names }) {
  // As in react-query.mjs: a bundler writes the value in its place.
  process.env = { ...process.env };
  const failuresLeft = await installFetch(status);
  skipWaits();
  const all = [];
  for (const name of names) all.push({ name, figures: [], ...(await contenders[name]()) });
  let id = 0;
  for (let round = 0; round < warmUp + rounds; round++) {
    for (let index = 0; index < all.length; index++) {
      const { ask, forget, figures } = all[(round + index) % all.length];
      const urls = Array.from({ length: calls }, () => `${origin}${++id}`);
      for (const url of urls) failuresLeft.set(url, failures);
      const start = process.cpuUsage();
      for (let from = 0; from < calls; from += atOnce)
        await Promise.allSettled(urls.slice(from, from + atOnce).map((url) => ask(url, failures)));
      const figure = cpuSince(start) / calls;
      if (round >= warmUp) figures.push(figure);
      failuresLeft.clear();
      forget?.();
      await turn();
    }
  }
  return Object.fromEntries(all.map(({ name, figures }) => [name, median(figures)]));
}

if (process.argv[1] === import.meta.filename) {
  console.log(JSON.stringify(await measureAll(JSON.parse(process.argv[2]))));
  process.exit();
}

const others = ['p-retry', 'cockatiel', 'ky'];
const success = ['bare', 'React Query', 'fetchQuery, with Steadfetch', 'steady.json', ...others];
const failing = ['bare', 'React Query', 'fetchQuery, with Steadfetch', 'retry', ...others];
/** The first calls of a page, whose code is hardly compiled; and those of a page that is open all day. */
const first = { atOnce: 1, calls: 20, warmUp: 2, rounds: 15 };
const later = { atOnce: 1, calls: 500, warmUp: 8, rounds: 15 };
const tables = {
  '200, the first calls': { ...first, failures: 0, names: success },
  '200, later': { ...later, failures: 0, names: success },
  '503, 503, 200, the first calls': { ...first, failures: 2, names: failing },
  '503, 503, 200, later': { ...later, failures: 2, names: failing },
};

function measure(plan) {
  const args = [import.meta.filename, JSON.stringify(plan)];
  const env = { ...process.env, NODE_ENV: 'production' };
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** @returns the median over some processes, of each contender. */
function measureOften(plan, runs) {
  const figures = Array.from({ length: runs }, () => measure(plan));
  return Object.fromEntries(
    plan.names.map((name) => [name, median(figures.map((figure) => figure[name]))]),
  );
}

/** @returns for each table its rows: microseconds more than bare fetch, and how many times React Query's own that is. */
export function compareHttp({ runs = 5 } = {}) {
  return Object.entries(tables).map(([title, plan]) => {
    const figures = measureOften(plan, runs);
    const own = figures['React Query'] - figures.bare;
    const rows = plan.names.map((name) => {
      const more = figures[name] - figures.bare;
      return { name, microseconds: figures[name], more, ratio: more / own };
    });
    return { title, rows };
  });
}

/**
 * Of a 408, which says nothing of the health of its server: 10,000 times 503 is an outage whatever
 * `maxChance` says, and what is paused is another figure.
 *
 * @returns for each number of queries at once that fail four times: microseconds for an attempt.
 */
export function compareAtOnce({ runs = 3 } = {}) {
  const names = ['React Query', 'fetchQuery, with Steadfetch'];
  return [100, 1000, 10_000].map((atOnce) => {
    const rounds = Math.max(3, Math.round(5000 / atOnce));
    const plan = { failures: 4, status: 408, atOnce, calls: atOnce, warmUp: rounds, rounds, names };
    const figures = measureOften(plan, runs);
    const [alone, steady] = names.map((name) => figures[name] / 4);
    return { atOnce, alone, steady, ratio: steady / alone };
  });
}
