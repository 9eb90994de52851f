import { notifyManager, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import { outboxHandler, type OutboxFilter } from 'steadfetch/outbox';
import { useOutboxEntries } from 'steadfetch/react';
import { beforeAll, describe, expect, test } from 'vitest';
import { createBrowser, shop } from '../rig.ts';

// By default it tells in a timer, which nothing here would wait for.
beforeAll(() => notifyManager.setScheduler(setImmediate));

const handlers = { order: outboxHandler({ ...shop.order, invalidates: [['orders']] }) };

interface Given {
  /** How long the list takes to load. */
  readonly loadMs: number;
  /** How long its request takes. @default 500 */
  readonly answerMs?: number;
  readonly filter?: OutboxFilter;
  readonly isOtherTab?: boolean;
  /** Whether the list fails once something was ordered. */
  readonly isBroken?: boolean;
}

/** What a list of what is there, and of what is on its way, shows from the submission on: each change once. */
async function watchList({
  loadMs,
  answerMs = 500,
  filter,
  isOtherTab,
  isBroken,
}: Given): Promise<string[]> {
  const { openTab, server, clock, pass } = createBrowser();
  const tab = openTab({ handlers });
  const submitter = isOtherTab ? openTab({ handlers }) : tab;
  const stock: unknown[] = ['rug'];
  server.rule = ({ body, answer }) =>
    void clock.setTimeout(() => {
      stock.push(JSON.parse(body));
      answer(201, {});
    }, answerMs);
  const seen: string[] = [];
  function List() {
    const { data = [] } = useQuery({
      queryKey: ['orders'],
      async queryFn() {
        await new Promise<void>((loaded) => void clock.setTimeout(loaded, loadMs));
        if (isBroken && stock.length > 1) throw new Error('broken');
        return [...stock];
      },
      retry: false,
    });
    const entries = useOutboxEntries(filter) ?? [];
    const onWay = entries.map(({ variables, state }) => `${String(variables)} ${state}`);
    const shown = [...data, ...onWay].join(', ');
    if (seen.at(-1) !== shown) seen.push(shown);
    return <p>{shown}</p>;
  }
  const screenful = render(
    <QueryClientProvider client={tab.client}>
      <List />
    </QueryClientProvider>,
  );
  await act(() => pass(3000));
  seen.length = 0;
  submitter.outbox.submit('order', 'lamp');
  for (let step = 0; step < 400; step++) await act(() => pass(10, 10));
  screenful.unmount();
  tab.crash();
  submitter.crash();
  return seen;
}

describe('an entry is in the list of what is on its way until the list of what is there has it', () => {
  test.each<[string, Given]>([
    ['for long', { loadMs: 1000 }],
    ['for a moment', { loadMs: 10 }],
    ['for a moment after another change', { loadMs: 10, answerMs: 20 }],
    ['among those that are sent', { loadMs: 1000, filter: { state: 'sending' } }],
    ['among those of its handler', { loadMs: 1000, filter: { handler: 'order' } }],
  ])('%s', async (_, given) => {
    expect(await watchList(given)).toEqual(['rug, lamp sending', 'rug, lamp']);
  });

  test('which another tab has submitted', async () => {
    const seen = await watchList({ loadMs: 1000, isOtherTab: true });
    expect(seen).toEqual(['rug, lamp sending', 'rug, lamp']);
  });

  test('and no longer, where that fails', async () => {
    const seen = await watchList({ loadMs: 1000, isBroken: true });
    expect(seen).toEqual(['rug, lamp sending', 'rug']);
  });

  test('and is not shown among those of another state', async () => {
    expect(await watchList({ loadMs: 1000, filter: { state: 'dead' } })).toEqual(['rug, lamp']);
  });
});
