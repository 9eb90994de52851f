import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import type { ReactNode } from 'react';
import { createSteadfetch, fallback, mutationOptions, watchConnectivity } from 'steadfetch';
import * as hooks from 'steadfetch/react';
import { ConnectionBanner } from 'steadfetch/ui';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findInstance } from '../../../src/core/react-query/instance.ts';

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => vi.restoreAllMocks());

const url = 'https://shop.test/orders';
const key = ['orders'];

/** An app whose server asks for a pause. */
function createApp() {
  const steady = createSteadfetch({
    fetch: async () => new Response('', { status: 429, headers: { 'retry-after': '60' } }),
    connectivity: watchConnectivity(),
  });
  onTestFinished(() => steady.dispose());
  return steady;
}

/** Runs a query and a mutation of the app to their end. */
async function use(client: QueryClient, app: ReturnType<typeof createApp>): Promise<void> {
  const policy = { maxRetries: 0 };
  const order = mutationOptions(app, {
    mutationKey: key,
    mutationFn: (_: void, { json }) => json(url, { method: 'POST' }),
    policy: { ...policy, whenDown: 'fail' },
  });
  await client.fetchQuery({
    queryKey: key,
    queryFn: () => app.json<string>(url),
    ...app.queryPolicy({ ...policy, fallback: fallback('none') }),
  });
  await client
    .getMutationCache()
    .build(client, order)
    .execute()
    .catch(() => {});
}

type Row = readonly [
  name: string,
  Shown: (props: { client: QueryClient }) => ReactNode,
  shown: string,
];
const rows: readonly Row[] = [
  ['useRetryStatus', () => hooks.useRetryStatus({ queryKey: key }).attempt, '1'],
  ['useMutationStatus', () => hooks.useMutationStatus({ mutationKey: key }).attempt, '1'],
  ['useOriginStatus', () => hooks.useOriginStatus(url).status, 'rate-limited'],
  ['useFallback', () => typeof hooks.useFallback(key), 'object'],
  [
    'useConnectivity',
    ({ client }) => {
      const { checkNow } = hooks.useConnectivity();
      return `${checkNow === findInstance(client, 'test')?.connectivity?.checkNow}`;
    },
    'true',
  ],
  [
    'ConnectionBanner',
    () => <ConnectionBanner>{({ status }) => <output>{status}</output>}</ConnectionBanner>,
    'rate-limited',
  ],
];

describe.each([
  ['are set', {}],
  ['become those of another instance', createSteadfetch().defaultOptions],
])('a component that has read its client before its default options %s', (_, defaultOptions) => {
  test.each(rows)('shows what they say with its next render: %s', async (_name, Shown, shown) => {
    const client = new QueryClient({ defaultOptions });
    const page = (): ReactNode => (
      <QueryClientProvider client={client}>
        <Shown client={client} />
      </QueryClientProvider>
    );
    const { container, rerender } = render(page());
    const app = createApp();
    client.setDefaultOptions(app.defaultOptions);
    await act(() => use(client, app));
    rerender(page());
    expect((container.querySelector('output') ?? container).textContent).toBe(shown);
  });
});
