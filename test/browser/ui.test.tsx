import { onlineManager, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import axe from 'axe-core';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createSteadfetch, defineIdempotency, mutationOptions } from 'steadfetch';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import { ConnectionBanner, OutboxBadge, OutboxPanel, RetryStatus, SafeForm } from 'steadfetch/ui';
import 'steadfetch/ui.css';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let end: () => void;

/** A page with all components, where everything has failed: each at an origin of its own, so that
 * none of them pauses another one. */
async function openPage(scheme: 'light' | 'dark'): Promise<HTMLElement> {
  const steady = createSteadfetch({
    random: () => 0.5,
    apis: [{ match: '/orders', idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }],
    fetch: async (input) => {
      const url = String(input instanceof Request ? input.url : input);
      if (url.endsWith('/orders')) throw new TypeError('Failed to fetch');
      return new Response('no', { status: url.endsWith('/notes') ? 422 : 503 });
    },
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const note = outboxHandler({
    mutationFn: (text: string, { json }) =>
      json('https://notes.example/notes', { method: 'POST', json: text }),
  });
  const name = `ui ${scheme} ${performance.now()}`;
  const outbox = createOutbox({ steady, queryClient: client, handlers: { note }, name });
  const order = mutationOptions(steady, {
    mutationFn: (fields: object, { json }) => json('/orders', { method: 'POST', json: fields }),
    policy: { maxRetries: 0 },
  });
  function Products() {
    useQuery({
      queryKey: ['products'],
      queryFn: () => steady.json('https://shop.example/products'),
    });
    return <RetryStatus query={['products']} />;
  }
  const host = document.body.appendChild(document.createElement('main'));
  document.documentElement.style.colorScheme = scheme;
  document.body.style.background = scheme === 'dark' ? '#0c1420' : '#fff';
  const root = createRoot(host);
  end = () => {
    root.unmount();
    host.remove();
    outbox.dispose();
    steady.dispose();
    onlineManager.setOnline(true);
  };
  root.render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <ConnectionBanner />
        <Products />
        <SafeForm
          form="order"
          label="Order"
          mutation={order}
          variables={(all) => Object.fromEntries(all)}
        >
          <label>
            Article <input name="sku" defaultValue="kite" />
          </label>
        </SafeForm>
        <OutboxBadge />
        <OutboxPanel describe={({ variables }) => String(variables)} />
      </QueryClientProvider>
    </StrictMode>,
  );
  outbox.submit('note', 'A note').delivered.catch(() => {});
  await show(host, 'Next attempt in');
  await show(host, 'Not sent');
  host.querySelector<HTMLButtonElement>('button[type=submit]')?.click();
  await show(host, 'whether this has arrived');
  return host;
}

async function show(page: HTMLElement, text: string): Promise<void> {
  await expect.poll(() => page.textContent).toContain(text);
}

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false });
  document.documentElement.lang = 'en';
  document.title = 'Components';
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => end());

test.each(['light', 'dark'] as const)(
  'axe finds nothing in the components where everything has failed, in %s',
  async (scheme) => {
    const page = await openPage(scheme);
    onlineManager.setOnline(false);
    await show(page, 'You are offline');
    const { violations } = await axe.run(page);
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  },
);

test.each([
  [390, 1],
  [320, 1],
  [320, 2],
])('at %i px and text %i times as large nothing is cut off', async (width, zoom) => {
  const page = await openPage('light');
  page.style.width = `${width - 16}px`;
  document.documentElement.style.fontSize = `${zoom * 100}%`;
  for (const one of page.querySelectorAll('*:not(.steadfetch-told)'))
    expect([one.className, one.scrollWidth <= Math.max(one.clientWidth, page.clientWidth)]).toEqual(
      [one.className, true],
    );
  document.documentElement.style.fontSize = '';
});
