import { onlineManager, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import {
  createSteadfetch,
  defineIdempotency,
  mutationOptions,
  type SteadfetchConfig,
} from 'steadfetch';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import { ConnectionBanner, OutboxBadge, OutboxPanel, RetryStatus, SafeForm } from 'steadfetch/ui';
import 'steadfetch/ui.css';
import { expect, onTestFinished } from 'vitest';

/** What the server answers to a request for products, an order or a note. */
export type Answer = (what: 'products' | 'orders' | 'notes') => Response | Promise<Response>;

/** A page with all components, each at an origin of its own, so that none of them pauses another one. */
export function openComponents(answer: Answer, config?: SteadfetchConfig): HTMLElement {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: false });
  document.documentElement.lang = 'en';
  document.title = 'Components';
  const steady = createSteadfetch({
    random: () => 0.5,
    apis: [{ match: '/orders', idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }],
    ...config,
    fetch: async (input) => {
      const url = String(input instanceof Request ? input.url : input);
      return answer(url.slice(url.lastIndexOf('/') + 1) as Parameters<Answer>[0]);
    },
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const note = outboxHandler({
    mutationFn: (text: string, { json }) =>
      json('https://notes.example/notes', { method: 'POST', json: text }),
  });
  const name = `components ${performance.now()}`;
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
  const page = document.body.appendChild(document.createElement('main'));
  // Tab starts here.
  page.tabIndex = -1;
  // Firefox sends keys to the frame that has the focus.
  window.focus();
  page.focus();
  const root = createRoot(page);
  onTestFinished(() => {
    root.unmount();
    page.remove();
    outbox.dispose();
    steady.dispose();
    onlineManager.setOnline(true);
  });
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
        <OutboxPanel
          describe={({ variables }) => String(variables)}
          edit={({ variables }, { send, close }) => (
            <>
              <label>
                Text <input defaultValue={String(variables)} />
              </label>
              <button type="button" onClick={() => send('Another note')}>
                Send the text
              </button>
              <button type="button" onClick={close}>
                Leave it
              </button>
            </>
          )}
        />
      </QueryClientProvider>
    </StrictMode>,
  );
  outbox.submit('note', 'A note').delivered.catch(() => {});
  return page;
}

/** Waits until the page says so. */
export async function sees(page: HTMLElement, text: string): Promise<void> {
  await expect.poll(() => page.textContent).toContain(text);
}

/** The same page after everything has failed. */
export async function openFailed(config?: SteadfetchConfig): Promise<HTMLElement> {
  const page = openComponents((what) => {
    if (what === 'orders') throw new TypeError('Failed to fetch');
    return new Response('no', { status: what === 'notes' ? 422 : 503 });
  }, config);
  await sees(page, 'Next attempt in');
  await sees(page, 'Not sent');
  page.querySelector<HTMLButtonElement>('button[type=submit]')?.click();
  await sees(page, 'whether this has arrived');
  return page;
}

/** What has the keyboard, by its text or its label; or the class of a frame. */
export function focused(): string {
  const { activeElement: element } = document;
  if (!element || element === document.body) return 'nothing';
  if (element instanceof HTMLInputElement) return element.labels?.[0]?.textContent ?? '';
  return (element as HTMLElement).tabIndex < 0 ? element.className : element.textContent;
}
