import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { createSteadfetch, mutationOptions } from 'steadfetch';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import * as hooks from 'steadfetch/react';
import { expect, test, vi } from 'vitest';

const refused = async (): Promise<Response> => new Response('', { status: 404 });
const steady = createSteadfetch({ fetch: refused });
const client = new QueryClient({ defaultOptions: steady.defaultOptions });
const outbox = createOutbox({
  steady,
  queryClient: client,
  handlers: {
    order: outboxHandler({ mutationFn: (_: string, { json }) => json('https://shop.test/orders') }),
  },
});
const mutation = mutationOptions(steady, {
  mutationKey: ['order'],
  mutationFn: (_: string, { json }) => json<string>('https://shop.test/orders', { method: 'POST' }),
});
const queued = outbox.mutationOptions('order');

/** What each hook reads of the client that it is given. */
const read: Readonly<Partial<Record<keyof typeof hooks, () => unknown>>> = {
  useConnectivity: () => hooks.useConnectivity(client).status,
  useFallback: () => hooks.useFallback(['a'], client) ?? 'none',
  useMutationStatus: () => hooks.useMutationStatus({ mutationKey: ['order'] }, client).status,
  useOriginStatus: () => hooks.useOriginStatus('https://shop.test', client).status,
  useOutbox: () => typeof hooks.useOutbox(client).retryAll,
  useOutboxEntries: () => hooks.useOutboxEntries({}, outbox, client) ?? 'not read',
  useOutboxEntry: () => `${hooks.useOutboxEntry('a', client).isLoading}`,
  useOutboxMutation: () => hooks.useOutboxMutation(queued, client).status,
  useRetryStatus: () => hooks.useRetryStatus({ queryKey: ['a'] }, client).status,
  useSafeSubmit: () => hooks.useSafeSubmit(mutation, { form: 'order' }, client).status,
  useSteadyMutation: () => hooks.useSteadyMutation(mutation, client).status,
};
const withoutClient = ['KeyField', 'sendAction', 'useCountdown', 'useSafeAction'];

test('every hook that reads a client is in the table', () => {
  expect([...Object.keys(read), ...withoutClient].toSorted()).toEqual(
    Object.keys(hooks).toSorted(),
  );
});

test.each(Object.entries(read))('%s needs no provider where it is given a client', (_, use) => {
  const Shown = (): ReactNode => String(use?.());
  const { container } = render(<Shown />);
  expect(container.textContent).not.toBe('');
});

test('a status is that of the given client, not that of the provider', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const key = { queryKey: ['shared'] };
  const Shown = (): ReactNode => {
    useQuery({ ...key, queryFn: () => steady.json('https://shop.test/a') }, client);
    const { status } = hooks.useRetryStatus(key, client);
    return (
      <p>
        {status}, {hooks.useRetryStatus(key).status}
      </p>
    );
  };
  const other = new QueryClient({ defaultOptions: steady.defaultOptions });
  render(
    <QueryClientProvider client={other}>
      <Shown />
    </QueryClientProvider>,
  );
  expect(await screen.findByText('failed, idle')).toBeInstanceOf(HTMLElement);
  vi.restoreAllMocks();
});
