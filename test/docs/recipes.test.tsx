import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { QueryClientProvider, QueryObserver, useMutation } from '@tanstack/react-query';
import { fireEvent, render, screen } from '@testing-library/react';
import axios, { type AxiosAdapter, AxiosError } from 'axios';
import { act, type ReactNode } from 'react';
import { resetSteadfetch, virtualTime } from 'steadfetch/testing';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { Feed } from './recipes/infinite.tsx';
import { Todos } from './recipes/optimistic.tsx';
import { Price } from './recipes/polling.tsx';
import { queryClient, server, steady } from './recipes/steady.ts';
import { answer } from './recipes/stream.ts';
import { Page } from './recipes/suspense.tsx';

const page = ['recipes', 'recipes/router-loaders', 'recipes/streams', 'mutations/autosave']
  .map((name) => readFileSync(resolve(import.meta.dirname, `../../docs/${name}.md`), 'utf8'))
  .join('');
const folder = resolve(import.meta.dirname, 'recipes');

test.each(readdirSync(folder).filter((file) => file !== 'steady.ts'))(
  'a page of recipes has %s as it is run here',
  (file) => {
    const code = readFileSync(resolve(folder, file), 'utf8');
    expect(page).toContain(`\`\`\`${file.split('.')[1]}\n${code}\`\`\``);
  },
);

/** Virtual time for one test, in an app of its own. */
function start() {
  const time = virtualTime(vi, { act: (work) => act(work) });
  const startedAt = time.now();
  onTestFinished(() => {
    resetSteadfetch(steady, queryClient);
    time.restore();
  });
  return {
    time,
    times: (path: string) => server.times(path).map((at) => at - startedAt),
    show: (children: ReactNode) =>
      render(<QueryClientProvider client={queryClient}>{children}</QueryClientProvider>),
  };
}

const lastMutation = () => queryClient.getMutationCache().getAll().at(-1)?.state;

afterEach(() => vi.restoreAllMocks());

test('the second page of a list is sent again, and the first one stays', async () => {
  const { time, show } = start();
  server.plan('/api/feed?page=1', { body: { names: ['kite'], next: 2 } });
  server.plan('/api/feed?page=2', 500, { body: { names: ['boat'], next: null } });
  show(<Feed of="feed" />);
  await time.advance(0);
  fireEvent.click(screen.getByText('More'));
  await time.advance(100);
  expect(screen.getByText('kite')).toBeTruthy();
  fireEvent.click(screen.getByText('Not through yet. Retry now'));
  await time.advance(0);
  expect(screen.getByText('boat')).toBeTruthy();
  expect(server.times('/api/feed?page=1')).toHaveLength(1);
});

test('a suspended page says what it waits for, and a boundary offers the way on', async () => {
  const { time, show } = start();
  vi.spyOn(console, 'error').mockImplementation(() => {});
  server.plan('/api/reports/kites', 500, 404, { body: { title: 'Kites' } });
  show(<Page of="kites" />);
  await time.advance(0);
  expect(screen.getByRole('status').textContent).toBe('Not through yet. Next in 1 s.');
  await time.advance(500);
  fireEvent.click(screen.getByText('Failed. Try again'));
  await time.advance(0);
  expect(screen.getByRole('heading').textContent).toBe('Kites');
});

type Fate = 'done' | 'refused' | 'done, and its answer lost' | 'lost';

describe('of two optimistic updates', () => {
  const fates: readonly Fate[] = ['done', 'refused', 'done, and its answer lost', 'lost'];
  const pairs = fates.flatMap((one) => fates.map((other) => [one, other] as const));

  const isDone = (fate: Fate): boolean => fate.startsWith('done');

  /** A list of two, of which both are checked at once; the first answer comes first, or last. */
  async function checkBoth(all: readonly [Fate, Fate], isInOrder: boolean) {
    const { time, show } = start();
    const truth = new Map<string, boolean>();
    const list = { toJSON: () => ['1', '2'].map((id) => ({ id, isDone: !!truth.get(id) })) };
    server.unplan('/api/todos');
    server.plan('/api/todos', ...Array.from({ length: 50 }, () => ({ body: list })));
    for (const [index, fate] of all.entries()) {
      const id = `${index + 1}`;
      const path = `/api/todos/${id}/check`;
      const afterMs = (index === 0) === isInOrder ? 100 : 300;
      const toJSON = () => ({ id, isDone: !!truth.set(id, true) });
      server.unplan(path);
      if (fate === 'done') server.plan(path, { body: { toJSON }, afterMs });
      else if (fate === 'refused') server.plan(path, { status: 403, afterMs });
      else server.plan(path, ...Array.from({ length: 9 }, () => 'network' as const));
    }
    show(<Todos />);
    await time.advance(0);
    const boxes = () => screen.getAllByRole<HTMLInputElement>('checkbox');
    const shown = () => boxes().map(({ checked }) => checked);
    for (const [index, box] of boxes().entries()) {
      fireEvent.click(box);
      if (all[index] === 'done, and its answer lost') truth.set(`${index + 1}`, true);
    }
    await time.advance(50);
    const atOnce = shown();
    /** Those that were shown as undone at some moment. */
    const undone = new Set<number>();
    for (let step = 0; step < 1200; step++) {
      await time.advance(100);
      for (const [index, checked] of shown().entries()) if (!checked) undone.add(index);
    }
    return { atOnce, undone: [...undone], atEnd: shown() };
  }

  test.each(
    pairs.flatMap((pair) => [true, false].map((isInOrder) => [...pair, isInOrder] as const)),
  )(
    'the first %s and the second %s (answered in this order: %s), each is shown by itself, and the truth in the end',
    async (first, second, isInOrder) => {
      const all = [first, second] as const;
      const { atOnce, undone, atEnd } = await checkBoth(all, isInOrder);
      expect(atOnce).toEqual([true, true]);
      expect(atEnd).toEqual(all.map(isDone));
      // What was done and answered is never shown as undone, whatever becomes of the other.
      expect(undone.filter((index) => all[index] === 'done')).toEqual([]);
    },
  );
});

/** What axios sends by; the adapter of Steadfetch keeps the one that it has found. */
let send: AxiosAdapter = () => Promise.reject(new Error('nothing sends'));
axios.defaults.adapter = (config) => send(config);

test('an upload is sent again under the same name, and tells its progress anew', async () => {
  const { time, show } = start();
  const sent: (string | undefined)[] = [];
  send = (config) => {
    sent.push(config.url);
    config.onUploadProgress?.({
      loaded: 2,
      progress: sent.length / 2,
      bytes: 2,
      lengthComputable: true,
    });
    if (sent.length === 1)
      return Promise.reject(new AxiosError('Network Error', 'ERR_NETWORK', config, {}));
    return Promise.resolve({ data: { id: '7' }, status: 201, statusText: '', headers: {}, config });
  };
  const { upload } = await import('./recipes/upload.ts');
  const told: number[] = [];
  function Upload() {
    const { mutate } = useMutation(upload);
    const variables = { file: new Blob(['kite']), onProgress: (share: number) => told.push(share) };
    return <button onClick={() => mutate(variables)}>Upload</button>;
  }
  show(<Upload />);
  fireEvent.click(screen.getByText('Upload'));
  await time.advance(1000);
  expect(lastMutation()?.data).toEqual({ id: '7' });
  expect(told).toEqual([0.5, 1]);
  expect([sent.length, new Set(sent).size]).toEqual([2, 1]);
});

test('of two uploads at once one is refused, and the other is done under its own name', async () => {
  const { time, show } = start();
  const { upload } = await import('./recipes/upload.ts');
  const names: string[] = [];
  send = (config) => {
    const isRefused = (config.data as Blob).size === 4;
    names.push(config.url ?? '');
    config.onUploadProgress?.({ loaded: 2, progress: 1, bytes: 2, lengthComputable: true });
    const status = isRefused ? 413 : 201;
    const response = { data: { id: '7' }, status, statusText: '', headers: {}, config };
    return isRefused
      ? Promise.reject(new AxiosError('413', 'ERR_BAD_REQUEST', config, {}, response))
      : Promise.resolve(response);
  };
  function Upload({ text, told }: { readonly text: string; readonly told: number[] }) {
    const { mutate, status } = useMutation(upload);
    const variables = { file: new Blob([text]), onProgress: (share: number) => told.push(share) };
    return <button onClick={() => mutate(variables)}>{`${text}: ${status}`}</button>;
  }
  const told: readonly number[][] = [[], []];
  show(
    <>
      <Upload text="kite" told={told[0] ?? []} />
      <Upload text="paper boat" told={told[1] ?? []} />
    </>,
  );
  for (const button of screen.getAllByRole('button')) fireEvent.click(button);
  await time.advance(1000);
  expect(screen.getAllByRole('button').map(({ textContent }) => textContent)).toEqual([
    'kite: error',
    'paper boat: success',
  ]);
  expect(told).toEqual([[1], [1]]);
  expect(new Set(names).size).toBe(2);
});

test('a silence of 15 s ends a stream, and what has come of it is shown until the next one is whole', async () => {
  const { time } = start();
  const silent = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('Kites ')),
  });
  vi.spyOn(server, 'fetch')
    .mockResolvedValueOnce(new Response(silent))
    .mockResolvedValueOnce(new Response('Kites fly.'));
  const observer = new QueryObserver(queryClient, answer('Do kites fly?'));
  onTestFinished(observer.subscribe(() => {}));
  const shown = () => {
    const { data, fetchStatus, failureCount } = observer.getCurrentResult();
    return [data, fetchStatus, failureCount];
  };
  await time.advance(14_999);
  expect(shown()).toEqual([['Kites '], 'fetching', 0]);
  await time.advance(1);
  expect(shown()).toEqual([['Kites '], 'fetching', 1]);
  await time.advance(500);
  expect(shown()).toEqual([['Kites fly.'], 'idle', 0]);
});

test('of two streams at once one is silent, and the other is shown whole meanwhile', async () => {
  const { time } = start();
  const silent = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('Kites ')),
  });
  vi.spyOn(server, 'fetch')
    .mockResolvedValueOnce(new Response(silent))
    .mockResolvedValueOnce(new Response('Boats swim.'))
    .mockResolvedValueOnce(new Response('Kites fly.'));
  const [kites, boats] = ['Do kites fly at once?', 'Do boats swim?'].map((question) => {
    const observer = new QueryObserver(queryClient, answer(question));
    onTestFinished(observer.subscribe(() => {}));
    return () => observer.getCurrentResult().data?.join('');
  });
  await time.advance(100);
  expect([kites?.(), boats?.()]).toEqual(['Kites ', 'Boats swim.']);
  await time.advance(16_000);
  expect([kites?.(), boats?.()]).toEqual(['Kites fly.', 'Boats swim.']);
});

test('a poll whose round fails twice shows how old its figure is, and the next round asks again', async () => {
  const { time, times, show } = start();
  server.plan('/api/price/kite', { body: { price: 7 } }, 500, 500, { body: { price: 8 } });
  const { container } = show(<Price of="kite" />);
  await time.advance(0);
  expect(container.textContent).toBe('7 €');
  await time.advance(6100);
  expect(container.textContent).toMatch(/^7 € as of \d\d:\d\d:\d\d$/);
  await time.advance(5000);
  expect(times('/api/price/kite')[1]).toBe(5000);
  expect(container.textContent).toBe('8 €');
});
