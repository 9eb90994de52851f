import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, mutationOptions, profiles, retry, type Steadfetch } from 'steadfetch';
import { expect, onTestFinished, test, vi } from 'vitest';

// zone.js, which OpenTelemetry's context-zone brings into React apps, and polyfills replace the global Promise. What async
// functions return is the platform's own, and no instance of it.

const url = 'http://api.example';

/** A server that answers the first request for `/down/…` with 503, for `/cut/…` not at all, and everything else at once. */
async function answer(input: RequestInfo | URL): Promise<Response> {
  const { pathname } = new URL(input instanceof Request ? input.url : input);
  const isFirst = !asked.has(pathname);
  asked.add(pathname);
  if (isFirst && pathname.startsWith('/cut')) throw new TypeError('Failed to fetch');
  const status = isFirst && pathname.startsWith('/down') ? 503 : 200;
  return Response.json(pathname, { status });
}
const asked = new Set<string>();

const rows: Readonly<Record<string, (steady: Steadfetch) => Promise<unknown>>> = {
  '/read': (steady) => steady.json(`${url}/read`, { signal: new AbortController().signal }),
  '/down/retry': (steady) => retry(steady, () => steady.json(`${url}/down/retry`)),
  '/cut/retry': (steady) => retry(steady, () => steady.json(`${url}/cut/retry`)),
  '/cut/draft': (steady) =>
    retry(steady, () => steady.json(`${url}/cut/draft`, { method: 'PUT', json: { id: 1 } })),
  '/down/query': (steady) =>
    new QueryClient({ defaultOptions: steady.defaultOptions }).fetchQuery({
      queryKey: ['query'],
      queryFn: () => steady.json(`${url}/down/query`),
    }),
  '/down/order': (steady) => {
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const order = mutationOptions(steady, {
      mutationKey: ['order'],
      mutationFn: (_: object, { json }) => json(`${url}/down/order`, { json: {} }),
    });
    return client.getMutationCache().build(client, order).execute({});
  },
};

test.each(Object.entries(rows))(
  '%s is answered where the global Promise is another',
  async (path, send) => {
    vi.stubGlobal('Promise', class extends Promise<unknown> {});
    onTestFinished(() => void vi.unstubAllGlobals());
    expect((async () => {})()).not.toBeInstanceOf(Promise);
    const steady = createSteadfetch({
      fetch: answer,
      policy: { baseMs: 1, capMs: 1 },
      apis: [{ match: `${url}/`, idempotency: profiles.draft }],
    });
    expect(await send(steady)).toBe(path);
  },
);
