import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { createSteadfetch } from 'steadfetch';
import { useFallback, useMutationStatus, useOriginStatus, useRetryStatus } from 'steadfetch/react';
import { ConnectionBanner, OutboxBadge, OutboxPanel, RetryStatus } from 'steadfetch/ui';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ErrorBoundary } from '../react-query/error-boundary.tsx';

function QueryStatus() {
  return <p>{useRetryStatus({ queryKey: ['a'] }).status}</p>;
}

function MutationStatus() {
  return <p>{useMutationStatus({ mutationKey: ['a'] }).status}</p>;
}

function show(client: QueryClient, Status: React.ComponentType = QueryStatus) {
  return render(
    <QueryClientProvider client={client}>
      <ErrorBoundary>
        <Status />
      </ErrorBoundary>
    </QueryClientProvider>,
  );
}

const warnings = (): readonly unknown[] => vi.mocked(console.warn).mock.calls.map(([text]) => text);
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => vi.restoreAllMocks());

const Origin = () => <p>{useOriginStatus().status}</p>;
const Fallback = () => <p>{typeof useFallback(['a'])}</p>;

test.each([
  ['useRetryStatus', QueryStatus, 'idle'],
  ['useMutationStatus', MutationStatus, 'idle'],
  ['useOriginStatus', Origin, 'up'],
  ['useFallback', Fallback, 'undefined'],
  ['ConnectionBanner', ConnectionBanner, ''],
  ['useRetryStatus', () => <RetryStatus query={['a']} />, ''],
  ['useMutationStatus', () => <RetryStatus mutation={['a']} />, ''],
] as const)(
  'a QueryClient without our default options: %s shows nothing, and one warning says what is missing',
  (hook, Shown, expected) => {
    const client = new QueryClient();
    const { container } = show(client, Shown);
    show(client, Shown);
    expect(container.textContent).toBe(expected);
    expect(warnings()).toEqual([
      `[steadfetch] ${hook}: this QueryClient carries no default options of Steadfetch. ` +
        'Make it with new QueryClient({ defaultOptions: steady.defaultOptions }). ' +
        'Until then it shows nothing. See node_modules/steadfetch/docs/retry/default-options.md#default-options.',
    ]);
  },
);

test.each([
  ['OutboxBadge', OutboxBadge],
  ['OutboxPanel', OutboxPanel],
] as const)('without an outbox %s shows nothing, and one warning says so', (name, Shown) => {
  const client = new QueryClient();
  const { container } = show(client, Shown);
  show(client, Shown);
  expect(container.textContent).toBe('');
  expect(warnings()).toEqual([
    `[steadfetch] ${name}: this QueryClient has no outbox. ` +
      'Make one at start-up: createOutbox({ steady, queryClient, handlers }). ' +
      'Until then it shows nothing. See node_modules/steadfetch/docs/outbox.md#usage.',
  ]);
});

test('in production it is silent', () => {
  vi.stubEnv('NODE_ENV', 'production');
  show(new QueryClient(), ConnectionBanner);
  expect(warnings()).toEqual([]);
  vi.unstubAllEnvs();
});

test('where it has options that another copy of the package may have made, the warning says so', () => {
  show(new QueryClient({ defaultOptions: { queries: { retryDelay: () => 1000 } } }));
  expect(warnings()).toEqual([
    '[steadfetch] useRetryStatus: this QueryClient carries no default options of Steadfetch. ' +
      'Make it with new QueryClient({ defaultOptions: steady.defaultOptions }). ' +
      'If it is, there are two copies of the package: `import` and `require` load two, ' +
      'and know nothing of each other (node_modules/steadfetch/docs/bundlers.md#import-and-require). ' +
      'Until then it shows nothing. See node_modules/steadfetch/docs/retry/default-options.md#default-options.',
  ]);
});

test.each<[string, (steady: ReturnType<typeof createSteadfetch>) => QueryClient]>([
  ['the default options as they are', ({ defaultOptions }) => new QueryClient({ defaultOptions })],
  [
    'the options of queries only',
    ({ defaultOptions: { queries } }) => new QueryClient({ defaultOptions: { queries } }),
  ],
  [
    'the options of mutations only',
    ({ defaultOptions: { mutations } }) => new QueryClient({ defaultOptions: { mutations } }),
  ],
  [
    'a queryPolicy, and other options beside it',
    (steady) =>
      new QueryClient({
        defaultOptions: { queries: { staleTime: 5, ...steady.queryPolicy({ maxRetries: 1 }) } },
      }),
  ],
  [
    'a retry of the app over ours',
    ({ defaultOptions: { queries } }) =>
      new QueryClient({ defaultOptions: { queries: { ...queries, retry: 2 } } }),
  ],
])('a QueryClient with %s is enough', (_name, makeClient) => {
  show(makeClient(createSteadfetch()));
  expect(screen.getByText('idle')).toBeDefined();
});

test('default options that are set later are found', () => {
  const client = new QueryClient();
  client.setDefaultOptions(createSteadfetch().defaultOptions);
  show(client);
  expect(screen.getByText('idle')).toBeDefined();
});
