import { readFileSync } from 'node:fs';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { isHttpError, presets, retry } from 'steadfetch';
import { failTimes, virtualTime } from 'steadfetch/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Checkout } from './checkout.tsx';
import { explain } from './explain.ts';
import { queryClient as firstClient } from './first-step.ts';
import { handlers, requestsSeen } from './handlers.ts';
import { loader } from './loader.ts';
import { placeOrder, queryClient as orderClient } from './order.ts';
import { Products } from './products.tsx';
import { queryClient, steady } from './steady.ts';

const read = (path: string): string => readFileSync(path, 'utf8');
const readme = read('README.md');
const samples = [...readme.matchAll(/```tsx?\n(?<code>.*?)```/gs)].map(
  ({ groups }) => groups?.['code'],
);
const files = [
  'first-step.ts',
  'steady.ts',
  'products.tsx',
  'loader.ts',
  'order.ts',
  'checkout.tsx',
  'outbox.ts',
  'explain.ts',
  'handlers.ts',
];

describe('README.md', () => {
  test('has the samples that are compiled and run here, and no others', () => {
    expect(samples).toEqual(files.map((file) => read(`test/readme/${file}`)));
  });

  test('has its first sample before line 25, in at most 12 lines', () => {
    const before = readme.slice(0, readme.indexOf('```ts\n')).split('\n').length;
    expect(before).toBeLessThan(25);
    expect(samples[0]?.trimEnd().split('\n').length).toBeLessThanOrEqual(12);
  });

  const rows = Object.keys(presets.interactive) as (keyof typeof presets.interactive)[];
  test.each(rows)('and docs/retry.md tell the defaults of %s as they are', (option) => {
    const row = new RegExp(`^\\| \`${option}\` \\|(.*)$`, 'm');
    const { interactive, background, critical } = presets;
    const defaults = [interactive, background, critical].map((preset) =>
      JSON.stringify(preset[option]).replaceAll('"', ''),
    );
    const pages = [read('docs/retry.md'), ...(row.test(readme) ? [readme] : [])];
    for (const page of pages) {
      const told = row.exec(page)?.[1]?.split('|').slice(0, 3) ?? [];
      expect(told.map((cell) => cell.replaceAll('`', '').trim())).toEqual(defaults);
    }
  });
});

test('the first step sets retry and retryDelay, and nothing else', () => {
  const { queries, ...others } = firstClient.getDefaultOptions();
  expect([Object.keys(queries ?? {}).toSorted(), others]).toEqual([['retry', 'retryDelay'], {}]);
});

describe('the samples', () => {
  const server = setupServer();
  let time: ReturnType<typeof virtualTime>;
  beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
  beforeEach(() => {
    time = virtualTime(vi, { act });
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
  });
  afterEach(() => {
    time.restore();
    vi.restoreAllMocks();
    server.resetHandlers();
    queryClient.clear();
    orderClient.clear();
  });
  afterAll(() => server.close());

  const products = http.get('/api/products', () => HttpResponse.json(['kite', 'line']));

  test('show the timeline that "What happens on a 503" tells', async () => {
    server.use(http.get('/api/products', failTimes(3, 503)), products);
    const sent: number[] = [];
    const start = time.now();
    const unsubscribe = steady.subscribe(({ type, at }) => {
      if (type === 'request:start') sent.push(at - start);
    });
    render(
      <QueryClientProvider client={queryClient}>
        <Products />
      </QueryClientProvider>,
    );
    await time.settle();
    expect(screen.getByRole('paragraph').textContent).toContain(
      'Attempt 1 of 4 failed. Next in 1 s.',
    );
    await time.advance(500);
    expect(screen.getByRole('paragraph').textContent).toContain('Paused: server-down.');
    await time.advance(550);
    await time.advance(1200);
    expect(screen.getByRole('paragraph').textContent).toBe('kite, line');
    expect(sent).toEqual([0, 500, 1050, 2250]);
    unsubscribe();
    cleanup();
  });

  test('load outside React Query with the same retries', async () => {
    server.use(http.get('/api/products', failTimes(1, 503)), products);
    const loaded = loader({ request: new Request('http://localhost/') });
    await time.advance(500);
    expect(await loaded).toEqual(['kite', 'line']);
  });

  test('send an order again with the key that it had', async () => {
    const keys: (string | null)[] = [];
    server.use(
      http.post('/api/orders', ({ request }) => {
        keys.push(request.headers.get('Idempotency-Key'));
      }),
      http.post('/api/orders', failTimes(1, 429)),
      http.post('/api/orders', () => HttpResponse.json({ id: 'o1' })),
    );
    const mutation = orderClient.getMutationCache().build(orderClient, placeOrder);
    const placed = mutation.execute({ sku: 'kite' });
    await time.advance(3000);
    expect(await placed).toEqual({ id: 'o1' });
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test('keep the key of a form, and say that it may have been ordered', async () => {
    const keys: (string | null)[] = [];
    let isLost = true;
    server.use(
      http.post('/api/orders', ({ request }) => {
        keys.push(request.headers.get('Idempotency-Key'));
        return isLost ? HttpResponse.error() : HttpResponse.json({ id: 'o1' });
      }),
    );
    render(
      <QueryClientProvider client={orderClient}>
        <Checkout />
      </QueryClientProvider>,
    );
    const press = async (): Promise<string | null> => {
      fireEvent.click(screen.getByRole('button', { name: 'Order' }));
      // The longest that the policy tries.
      await time.advance(300_000);
      return screen.getByRole('status').textContent;
    };
    expect(await press()).toMatch(/^It may have been ordered/);
    // Ten retries at least: failed probes are none.
    const inVain = keys.length;
    expect(inVain).toBeGreaterThanOrEqual(11);
    isLost = false;
    expect(await press()).toBe('Ordered: o1.');
    expect(keys).toHaveLength(inVain + 1);
    expect(new Set(keys).size).toBe(1);
    cleanup();
  });

  test('explain what is known of a failure', async () => {
    server.use(...handlers);
    const asked = await steady.fetch('/api/products').catch((error: unknown) => error);
    expect(explain(asked)).toBe('It may have been done. Please check.');
    expect(requestsSeen()).toBe(1);
    const limited = await retry(steady, () => steady.fetch('/api/orders'), { maxRetries: 0 }).catch(
      (error: unknown) => error,
    );
    expect(isHttpError(limited) && limited.status).toBe(429);
    expect(explain(limited)).toMatch(/^Not done. Try again at /);
    expect(explain(new Error('no'))).toBe('It may have been done. Please check.');
  });
});
