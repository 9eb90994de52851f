// Runs in a process of its own, because Vitest itself needs what is removed here.
import { environmentManager, MutationObserver, QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  mutationOptions,
  profiles,
  rateLimitFields,
  shareAcrossTabs,
} from '../../../src/index.ts';

/** What Chrome 91, Firefox 90 or Safari 15 lack. React Query runs in all of them. */
const missing: readonly (readonly [object, ...string[]])[] = [
  [
    Array.prototype,
    'at',
    'findLast',
    'findLastIndex',
    'toReversed',
    'toSorted',
    'toSpliced',
    'with',
  ],
  [String.prototype, 'at'],
  [Object, 'groupBy', 'hasOwn'],
  [Promise, 'withResolvers'],
  [AbortSignal, 'any', 'timeout'],
  [AbortSignal.prototype, 'throwIfAborted'],
  [globalThis, 'BroadcastChannel', 'navigator', 'reportError', 'structuredClone'],
];
environmentManager.setIsServer(() => false);
// Node loads its own fetch at its first use, and that needs them.
await fetch('data:,');
for (const [owner, ...names] of missing)
  for (const name of names) Reflect.deleteProperty(owner, name);

const limits = '"day";r=3;t=9, "minute";r=2;t=1';
const failures = new Map([
  ['/read', 503],
  ['/plain', 503],
  ['/keyed', 500],
]);

const steady = createSteadfetch({
  apis: [{ match: 'http://api.example/', idempotency: profiles.draft }],
  rateLimit: rateLimitFields(),
  tabs: shareAcrossTabs(),
  policy: { baseMs: 1, capMs: 1 },
  fetch: async (input) => {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const status = failures.get(pathname) ?? 200;
    failures.delete(pathname);
    return Response.json(pathname, { status, headers: { ratelimit: limits } });
  },
});
const client = new QueryClient({ defaultOptions: steady.defaultOptions });
const url = 'http://api.example';
const put = { method: 'PUT', body: '{}' };

const results = await Promise.all([
  client.fetchQuery({ queryKey: ['read'], queryFn: () => steady.json(`${url}/read`) }),
  new MutationObserver(client, { mutationFn: () => steady.json(`${url}/plain`, put) }).mutate(),
  new MutationObserver(
    client,
    mutationOptions(steady, {
      mutationKey: ['keyed'],
      mutationFn: (order: object, { json }) => json(`${url}/keyed`, { json: order }),
    }),
  ).mutate({ sku: 'kite', count: 1 }),
]);
console.log(JSON.stringify(results));
// React Query keeps what is cached for five minutes, by timers that keep the process.
process.exit();
