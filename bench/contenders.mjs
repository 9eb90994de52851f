import { stub, url } from './stub.mjs';

// All get the same time limit and the same number of retries, where they have them.
const timeoutMs = 10_000;
const maxRetries = 3;

const blockOf = (call) => async (calls) => {
  for (let index = 0; index < calls; index++) await call();
};

async function createSteady(config) {
  const { createSteadfetch } = await import('../dist/index.js');
  return createSteadfetch({ fetch: stub, policy: { timeout: timeoutMs, maxRetries }, ...config });
}

const readJson = async (response) => (await response).json();

async function createClient(defaultOptions) {
  const { QueryClient } = await import('@tanstack/react-query');
  return new QueryClient({ defaultOptions });
}

/** A whole query for each call. */
async function queryEach(defaultOptions, fetch) {
  const client = await createClient(defaultOptions);
  const queryFn = ({ signal }) => readJson(fetch(url, { signal }));
  return blockOf(() => client.fetchQuery({ queryKey: ['products', 3], queryFn }));
}

/** Each makes what runs a block: so many calls, one after the other, the JSON of each read. */
export const contenders = {
  bare: async () => blockOf(() => readJson(stub(url))),

  steadfetch: async () => {
    const { fetch } = await createSteady();
    return blockOf(() => readJson(fetch(url)));
  },

  'p-retry': async () => {
    const { default: pRetry } = await import('p-retry');
    return blockOf(() => pRetry(() => readJson(stub(url)), { retries: maxRetries }));
  },

  cockatiel: async () => {
    const { wrap, handleAll, TimeoutStrategy, ...cockatiel } = await import('cockatiel');
    const policies = wrap(
      cockatiel.retry(handleAll, {
        maxAttempts: maxRetries,
        backoff: new cockatiel.ExponentialBackoff(),
      }),
      cockatiel.circuitBreaker(handleAll, {
        halfOpenAfter: 10_000,
        breaker: new cockatiel.ConsecutiveBreaker(5),
      }),
      cockatiel.bulkhead(10),
      cockatiel.timeout(timeoutMs, TimeoutStrategy.Aggressive),
    );
    return blockOf(() => policies.execute(({ signal }) => readJson(stub(url, { signal }))));
  },

  ky: async () => {
    const { default: ky } = await import('ky');
    const api = ky.create({ fetch: stub, timeout: timeoutMs, retry: maxRetries });
    return blockOf(() => api(url).json());
  },

  'axios with axios-retry': async () => {
    const { default: axios } = await import('axios');
    const { default: axiosRetry } = await import('axios-retry');
    const api = axios.create({ adapter: 'fetch', env: { fetch: stub }, timeout: timeoutMs });
    axiosRetry(api, { retries: maxRetries });
    return blockOf(async () => (await api.get(url)).data);
  },
};

/** Steadfetch in other circumstances. */
export const variants = {
  bare: contenders.bare,

  'no signal': contenders.steadfetch,

  'with a signal': async () => {
    const { fetch } = await createSteady();
    const { signal } = new AbortController();
    return blockOf(() => readJson(fetch(url, { signal })));
  },

  'within a query, with its signal': async () => {
    const { defaultOptions, fetch } = await createSteady();
    const client = await createClient(defaultOptions);
    return async (calls) => {
      await client.fetchQuery({
        queryKey: ['block'],
        async queryFn({ signal }) {
          await blockOf(() => readJson(fetch(url, { signal })))(calls);
          return calls;
        },
      });
    };
  },

  'with an event listener': async () => {
    const { fetch, subscribe } = await createSteady();
    let events = 0;
    subscribe(() => void events++);
    return blockOf(() => readJson(fetch(url)));
  },

  'with one API profile': async () => {
    const { fetch } = await createSteady({
      apis: [{ match: 'https://api.example/v1/', policy: { maxRetries: 2 } }],
    });
    return blockOf(() => readJson(fetch(url)));
  },

  'steady.json': async () => {
    const { json } = await createSteady();
    return blockOf(() => json(url));
  },
};

/** What the default options add to React Query itself. */
export const queries = {
  bare: async () => queryEach({}, stub),

  'steady.fetch and steady.defaultOptions': async () => {
    const { defaultOptions, fetch } = await createSteady();
    return queryEach(defaultOptions, fetch);
  },
};

/** What a server makes for each request: it renders for one user. */
export const instances = {
  'new QueryClient()': async () => {
    const { QueryClient } = await import('@tanstack/react-query');
    return blockOf(() => new QueryClient());
  },

  'createSteadfetch() and new QueryClient() with its defaultOptions': async () => {
    const { QueryClient } = await import('@tanstack/react-query');
    const { createSteadfetch } = await import('../dist/index.js');
    return blockOf(() => {
      const { defaultOptions } = createSteadfetch();
      return new QueryClient({ defaultOptions });
    });
  },

  'the same, with an API, its limits and its connectivity': async () => {
    const { QueryClient } = await import('@tanstack/react-query');
    const steadfetch = await import('../dist/index.js');
    return blockOf(() => {
      const { defaultOptions } = steadfetch.createSteadfetch({
        apis: [{ match: '/api', idempotency: steadfetch.profiles.draft }],
        concurrency: steadfetch.limitConcurrency({ maxInFlight: 6 }),
        connectivity: steadfetch.watchConnectivity(),
        rateLimit: steadfetch.rateLimitFields(),
      });
      return new QueryClient({ defaultOptions });
    });
  },
};

export const groups = { contenders, variants, queries, instances };
