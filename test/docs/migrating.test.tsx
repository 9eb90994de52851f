import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  onlineManager,
  useIsRestoring,
  useMutation,
  type UseMutationOptions,
} from '@tanstack/react-query';
import type { PersistedClient } from '@tanstack/react-query-persist-client';
import { act, cleanup, render, screen, waitFor } from '@testing-library/react';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import type { ComponentType, ReactNode } from 'react';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import * as after from './migrating/persisted-after.tsx';
import * as before from './migrating/persisted-before.tsx';

const page = readFileSync(
  resolve(import.meta.dirname, '../../docs/migrating/persisted-mutations.md'),
  'utf8',
);

test.each(['persisted-before.tsx', 'persisted-after.tsx'])(
  'docs/migrating/persisted-mutations.md has %s as it is run here',
  (file) => {
    const code = readFileSync(resolve(import.meta.dirname, 'migrating', file), 'utf8');
    expect(page).toContain(`\`\`\`tsx\n${code}\`\`\``);
  },
);

const server = setupServer();
beforeAll(() => server.listen());
afterAll(() => {
  after.outbox.dispose();
  server.close();
});

const patience = { timeout: 20_000 };

/** What the persister of both has stored of mutations. */
const stored = (): number => {
  const text = localStorage.getItem('REACT_QUERY_OFFLINE_CACHE');
  return text === null ? -1 : (JSON.parse(text) as PersistedClient).clientState.mutations.length;
};

/** Presses a button of the app that orders a kite, once what is stored has been read. */
async function order(
  App: ComponentType<{ children: ReactNode }>,
  options: UseMutationOptions<{ id: string }, Error, { sku: string }>,
) {
  function Order() {
    const { mutate, data } = useMutation(options);
    const isRestoring = useIsRestoring();
    const text = isRestoring ? 'Restoring' : (data?.id ?? 'Order');
    return <button onClick={() => mutate({ sku: 'kite' })}>{text}</button>;
  }
  render(
    <App>
      <Order />
    </App>,
  );
  const button = await screen.findByText('Order', {}, patience);
  // The persister watches from its effect on, which runs after the button is shown.
  await act(async () => {});
  act(() => button.click());
}

test('before: an order made offline is sent after a reload', async () => {
  const orders: unknown[] = [];
  server.use(
    http.post('/api/orders', async ({ request }) => {
      orders.push(await request.json());
      return HttpResponse.json({ id: '7' }, { status: 201 });
    }),
  );
  onlineManager.setOnline(false);
  onTestFinished(() => onlineManager.setOnline(true));
  await order(before.App, { mutationKey: ['order'] });
  await waitFor(() => expect(stored()).toBe(1), patience);
  cleanup();
  onlineManager.setOnline(true);
  vi.resetModules();
  const { App } = await import('./migrating/persisted-before.tsx');
  render(<App>{null}</App>);
  await waitFor(() => expect(orders).toEqual([{ sku: 'kite' }]), patience);
});

test('after: an order is in the outbox before it is sent, and in no other storage', async () => {
  const kept: unknown[] = [];
  server.use(
    http.post('/api/orders', async ({ request }) => {
      const entries = await after.outbox.list();
      kept.push([entries.length, request.headers.has('idempotency-key')]);
      return HttpResponse.json({ id: '7' }, { status: 201 });
    }),
  );
  localStorage.clear();
  await order(after.App, after.outbox.mutationOptions('order'));
  await screen.findByText('7', {}, patience);
  expect(kept).toEqual([[1, true]]);
  await waitFor(() => expect(stored()).toBe(0), patience);
});
