import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import { act, type ReactNode } from 'react';
import { resetSteadfetch, virtualTime } from 'steadfetch/testing';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { Draft } from './recipes/autosave.tsx';
import { Feed } from './recipes/infinite.tsx';
import { loadProduct } from './recipes/loader.ts';
import { Price } from './recipes/polling.tsx';
import { queryClient, server, steady } from './recipes/steady.ts';
import { Page } from './recipes/suspense.tsx';

// Each recipe with two at once, one of them failing. Optimistic updates, uploads and streams are in recipes.test.tsx.

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

/** Virtual time for one test, in an app of its own. */
function start() {
  const time = virtualTime(vi, { act: (work) => act(work) });
  onTestFinished(() => {
    resetSteadfetch(steady, queryClient);
    time.restore();
  });
  return {
    time,
    show: (children: ReactNode) =>
      render(<QueryClientProvider client={queryClient}>{children}</QueryClientProvider>),
  };
}

/** A navigation, with what has become of it. */
function load(id: string) {
  const controller = new AbortController();
  const navigation = { controller, became: 'loading' };
  loadProduct(id, controller).then(
    () => (navigation.became = 'loaded'),
    () => (navigation.became = 'failed'),
  );
  return navigation;
}

test('of two loaders at once one fails, and the other has its product', async () => {
  const { time } = start();
  server.plan('/api/products/a1', 404);
  server.plan('/api/products/a2', { body: { name: 'boat' }, afterMs: 100 });
  const loads = [load('a1'), load('a2')];
  await time.advance(100);
  expect(loads.map(({ became }) => became)).toEqual(['failed', 'loaded']);
});

test('of two navigations to one product one is given up, and the other has it', async () => {
  const { time } = start();
  server.plan('/api/products/a3', { body: { name: 'boat' }, afterMs: 100 });
  const [hovered, clicked] = [load('a3'), load('a3')];
  await time.advance(50);
  hovered.controller.abort();
  await time.advance(50);
  expect(clicked.became).toBe('loaded');
  expect(server.times('/api/products/a3')).toHaveLength(1);
});

test('a navigation that is the last to be given up ends the request', async () => {
  const { time } = start();
  server.plan('/api/products/a4', 'hang');
  const [hovered, clicked] = [load('a4'), load('a4')];
  await time.advance(50);
  hovered.controller.abort();
  await time.advance(0);
  expect(server.sent.at(-1)?.abortedAt).toBe(undefined);
  clicked.controller.abort();
  await time.advance(0);
  expect(server.sent.at(-1)?.abortedAt).toBe(time.now());
  expect([hovered.became, clicked.became]).toEqual(['failed', 'failed']);
});

test('of two lists at once one fails, says so and has a way on, and the other grows by one page for two presses', async () => {
  const { time, show } = start();
  server.plan('/api/kites?page=1', 404, { body: { names: ['kite'], next: null } });
  server.plan('/api/boats?page=1', { body: { names: ['boat'], next: 2 } });
  server.plan('/api/boats?page=2', { body: { names: ['ship'], next: null }, afterMs: 100 });
  show(
    <>
      <Feed of="kites" />
      <Feed of="boats" />
    </>,
  );
  await time.advance(0);
  fireEvent.click(screen.getByText('More'));
  fireEvent.click(screen.getByText('More'));
  await time.advance(100);
  const items = (): (string | null)[] =>
    screen.getAllByRole('listitem').map(({ textContent }) => textContent);
  expect(items()).toEqual(['boat', 'ship']);
  expect(server.times('/api/boats?page=2')).toHaveLength(1);
  fireEvent.click(screen.getByText('Failed. Try again'));
  await time.advance(0);
  expect(items()).toEqual(['kite', 'boat', 'ship']);
});

test('of two suspended pages at once one fails, and the other is shown', async () => {
  const { time, show } = start();
  server.plan('/api/reports/kites', 404, { body: { title: 'Kites' } });
  server.plan('/api/reports/boats', { body: { title: 'Boats' }, afterMs: 100 });
  show(
    <>
      <Page of="kites" />
      <Page of="boats" />
    </>,
  );
  await time.advance(100);
  expect(screen.getByRole('heading').textContent).toBe('Boats');
  fireEvent.click(screen.getByText('Failed. Try again'));
  await time.advance(0);
  expect(screen.getAllByRole('heading').map(({ textContent }) => textContent)).toEqual([
    'Kites',
    'Boats',
  ]);
  expect(server.times('/api/reports/boats')).toHaveLength(1);
});

test('of two polls at once one fails, and only that one says how old it is', async () => {
  const { time, show } = start();
  server.plan('/api/price/kite', { body: { price: 7 } }, 404, { body: { price: 8 } });
  server.plan(
    '/api/price/boat',
    { body: { price: 1 } },
    { body: { price: 2 } },
    { body: { price: 3 } },
  );
  show(
    <>
      <Price of="kite" />
      <Price of="boat" />
    </>,
  );
  const shown = (): (string | null)[] =>
    screen.getAllByText(/€/).map(({ textContent }) => textContent);
  await time.advance(0);
  expect(shown()).toEqual(['7 €', '1 €']);
  await time.advance(5000);
  expect(shown()).toEqual([expect.stringMatching(/^7 € as of \d\d:\d\d:\d\d$/), '2 €']);
  await time.advance(5000);
  expect(shown()).toEqual(['8 €', '3 €']);
});

const bodies = (id: string): unknown[] =>
  server.sent.filter(({ request }) => request === `PUT /api/drafts/${id}`).map(({ body }) => body);
const draft = (text: string): string => JSON.stringify({ text });

test('of two drafts at once one fails, and the other is saved', async () => {
  const { time, show } = start();
  server.plan('/api/drafts/d1', 422);
  server.plan('/api/drafts/d2', 503, 204);
  show(
    <>
      <Draft id="d1" />
      <Draft id="d2" />
    </>,
  );
  for (const area of screen.getAllByRole('textbox')) {
    fireEvent.change(area, { target: { value: 'one' } });
    fireEvent.blur(area);
  }
  await time.advance(1000);
  expect([bodies('d1'), bodies('d2')]).toEqual([[draft('one')], [draft('one'), draft('one')]]);
});

test.each([
  ['is refused', [422, 204]],
  ['is answered 503 once', [503, 204, 204]],
])(
  'of two drafts of one text the first %s, and the second is saved last',
  async (what, answers) => {
    const { time, show } = start();
    const id = what.replaceAll(' ', '-');
    server.plan(`/api/drafts/${id}`, ...answers);
    show(<Draft id={id} />);
    for (const value of ['one', 'one, and two']) {
      fireEvent.change(screen.getByRole('textbox'), { target: { value } });
      fireEvent.blur(screen.getByRole('textbox'));
    }
    await time.advance(2000);
    expect(bodies(id)).toHaveLength(answers.length);
    expect(bodies(id).at(-1)).toBe(draft('one, and two'));
  },
);
