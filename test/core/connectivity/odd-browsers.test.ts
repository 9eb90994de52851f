import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  shareAcrossTabs,
  type SteadfetchConfig,
  watchConnectivity,
} from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import { expect, onTestFinished, test, vi } from 'vitest';

/** As Cordova, web views, tests and browser extensions leave parts of a browser. */
const parts: readonly (readonly [name: string, part: unknown])[] = [
  ['connection', undefined],
  ['connection', null],
  ['connection', {}],
  ['connection', { effectiveType: '4g' }],
  ['connection', { type: 'wifi', onchange: null }],
  ['onLine', undefined],
  ['locks', undefined],
  ['locks', null],
  ['serviceWorker', undefined],
  ['serviceWorker', null],
  ['serviceWorker', {}],
];
const configs: readonly (readonly [how: string, config: SteadfetchConfig])[] = [
  ['alone', {}],
  ['with the network and tabs', { connectivity: watchConnectivity(), tabs: shareAcrossTabs() }],
];

test.each(
  parts.flatMap(([name, part]) =>
    configs.map(([how, config]) => [name, part, how, config] as const),
  ),
)(
  'with the navigator.%s %j an instance %s sends its requests, and an outbox its entries',
  async (name, part, _how, config) => {
    const own = Object.getOwnPropertyDescriptor(navigator, name);
    Object.defineProperty(navigator, name, { value: part, configurable: true });
    onTestFinished(() => {
      Reflect.deleteProperty(navigator, name);
      if (own) Object.defineProperty(navigator, name, own);
    });
    const sent: string[] = [];
    const send: typeof fetch = async (input) => {
      sent.push(input as string);
      return Response.json('kites');
    };
    const steady = createSteadfetch({ ...config, fetch: send });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const outbox = createOutbox({
      steady,
      queryClient: client,
      name: `odd ${Math.random()}`,
      handlers: {
        order: { mutationFn: (_: string, { json }) => json('/orders', { method: 'POST' }) },
      },
    });
    expect(
      await client.fetchQuery({ queryKey: ['a'], queryFn: () => steady.json('/products') }),
    ).toBe('kites');
    outbox.submit('order', 'kite');
    await vi.waitFor(() => expect(sent).toEqual(['/products', '/orders']));
    outbox.dispose();
    steady.dispose();
    warn.mockRestore();
  },
);
