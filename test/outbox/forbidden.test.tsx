import 'fake-indexeddb/auto';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import { createSteadfetch, profiles, shareAcrossTabs, watchConnectivity } from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import { useSafeSubmit } from 'steadfetch/react';
import { ConnectionBanner, OutboxBadge, OutboxPanel } from 'steadfetch/ui';
import { expect, onTestFinished, test, vi } from 'vitest';

/** What a browser refuses to a sandboxed frame, or where cookies are blocked: some already when it is read. */
const refused: readonly (readonly [name: string, of: object])[] = [
  ['indexedDB', globalThis],
  ['caches', globalThis],
  ['sessionStorage', globalThis],
  ['BroadcastChannel', globalThis],
  ['locks', navigator],
  ['serviceWorker', navigator],
  ['connection', navigator],
];

function refuse(names: readonly (readonly [name: string, of: object])[]): void {
  for (const [name, of] of names) {
    const before = Object.getOwnPropertyDescriptor(of, name);
    Object.defineProperty(of, name, {
      configurable: true,
      get() {
        throw new DOMException(name, 'SecurityError');
      },
    });
    onTestFinished(() => {
      Reflect.deleteProperty(of, name);
      if (before) Object.defineProperty(of, name, before);
    });
  }
}

test.each([...refused.map((one) => [one[0], [one]] as const), ['all of it', refused] as const])(
  'all works where the browser throws when %s is read',
  async (name, names) => {
    vi.spyOn(console, 'warn').mockReturnValue();
    refuse(names);
    const steady = createSteadfetch({
      fetch: async () => Response.json({ id: 1 }),
      apis: [{ match: 'https://shop.test', idempotency: { ...profiles.draft, lifetimeMs: 1 } }],
      connectivity: watchConnectivity(),
      tabs: shareAcrossTabs(),
    });
    onTestFinished(() => steady.dispose());
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const outbox = createOutbox({
      steady,
      queryClient: client,
      name,
      user: 'ann',
      backgroundSync: true,
      handlers: {
        order: {
          mutationFn: (json: object, context) =>
            context.json<{ id: number }>('https://shop.test/orders', { json }),
        },
      },
    });
    onTestFinished(() => outbox.dispose());
    function Form() {
      return useSafeSubmit(outbox.mutationOptions('order'), { form: 'order' }).status;
    }
    const { unmount } = render(
      <QueryClientProvider client={client}>
        <ConnectionBanner />
        <OutboxBadge />
        <OutboxPanel />
        <Form />
      </QueryClientProvider>,
    );
    const { saved, delivered } = outbox.submit('order', { sku: 'kite' });
    const isDurable = !names.some(([one]) => one === 'indexedDB');
    expect(await act(() => saved)).toEqual({ isDurable });
    expect(await act(() => delivered)).toEqual({ id: 1 });
    expect(outbox.getState().storage).toBe(isDurable ? 'durable' : 'unavailable');
    // Nothing is there that a next page could send.
    expect(await act(() => steady.endSession())).toBe(undefined);
    unmount();
  },
);
