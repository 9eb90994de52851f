import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { createSteadfetch } from 'steadfetch';
import { useRetryStatus, useMutationStatus } from 'steadfetch/react';
import { expect, test } from 'vitest';
import { ErrorBoundary } from '../react-query/error-boundary.tsx';

function QueryStatus() {
  return <p>{useRetryStatus({ queryKey: ['a'] }).status}</p>;
}

function MutationStatus() {
  return <p>{useMutationStatus({ mutationKey: ['a'] }).status}</p>;
}

function show(client: QueryClient, Status = QueryStatus) {
  render(
    <QueryClientProvider client={client}>
      <ErrorBoundary>
        <Status />
      </ErrorBoundary>
    </QueryClientProvider>,
  );
}

test.each([
  ['useRetryStatus', QueryStatus],
  ['useMutationStatus', MutationStatus],
] as const)(
  'a QueryClient without our default options: the error of %s says what is missing',
  (hook, Status) => {
    show(new QueryClient(), Status);
    expect(screen.getByRole('alert').textContent).toBe(
      `Failed: ${hook}: this QueryClient carries no default options of Steadfetch. ` +
        'Make it with new QueryClient({ defaultOptions: steady.defaultOptions }).',
    );
  },
);

test('where it has options that another copy of the package may have made, the error says so', () => {
  show(new QueryClient({ defaultOptions: { queries: { retryDelay: () => 1000 } } }));
  expect(screen.getByRole('alert').textContent).toBe(
    'Failed: useRetryStatus: this QueryClient carries no default options of Steadfetch. ' +
      'Make it with new QueryClient({ defaultOptions: steady.defaultOptions }). ' +
      'If it is, there are two copies of the package: `import` and `require` load two, ' +
      'and know nothing of each other (docs/testing.md#import-and-require in the repository of steadfetch).',
  );
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
