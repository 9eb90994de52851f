import 'fake-indexeddb/auto';
import { QueryClientProvider, useMutation } from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryClient } from './order.ts';
import { keepOrder, outbox } from './outbox.ts';

const server = setupServer();
beforeAll(() => server.listen());
afterAll(() => {
  outbox.dispose();
  server.close();
});

test('the order of the README is on the disk before it is sent, and gone once it is delivered', async () => {
  const kept: number[] = [];
  server.use(
    http.post('/api/orders', async () => {
      kept.push((await outbox.list()).length);
      return HttpResponse.json({ id: '7' }, { status: 201 });
    }),
  );
  function Order() {
    const { mutateAsync, data } = useMutation(keepOrder);
    return <button onClick={() => void mutateAsync({ sku: 'kite' })}>{data?.id ?? 'Order'}</button>;
  }
  render(
    <QueryClientProvider client={queryClient}>
      <Order />
    </QueryClientProvider>,
  );
  act(() => screen.getByRole('button').click());
  await screen.findByText('7', {}, { timeout: 20_000 });
  expect(kept).toEqual([1]);
  expect(await outbox.list()).toEqual([]);
});
