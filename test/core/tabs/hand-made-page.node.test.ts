import { onlineManager, QueryClient } from '@tanstack/react-query';
// @ts-expect-error -- it has no types.
import { JSDOM } from 'jsdom';
import { createSteadfetch, shareAcrossTabs, watchConnectivity } from 'steadfetch';
import { expect, onTestFinished, test, vi } from 'vitest';

test('a page that a test makes by hand, of a window and a document alone, is one for tabs and network', async () => {
  const { window } = new JSDOM('', { url: 'http://localhost:3000/' }) as { window: Window };
  vi.stubGlobal('window', window);
  vi.stubGlobal('document', window.document);
  onTestFinished(() => void vi.unstubAllGlobals());
  const steady = createSteadfetch({
    connectivity: watchConnectivity(),
    tabs: shareAcrossTabs(),
    fetch: async () => Response.json('kites'),
  });
  onTestFinished(() => steady.dispose());
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const queryFn = ({ signal }: { readonly signal: AbortSignal }) =>
    steady.json('http://localhost:3000/products', { signal });
  expect(await client.fetchQuery({ queryKey: ['products'], queryFn, gcTime: 0 })).toBe('kites');
  // A window that is not the global object has its events all the same.
  window.dispatchEvent(new (window as unknown as { Event: typeof Event }).Event('offline'));
  expect(onlineManager.isOnline()).toBe(false);
});
