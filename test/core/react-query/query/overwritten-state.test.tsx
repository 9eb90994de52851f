import {
  CancelledError,
  dehydrate,
  hydrate,
  type Query,
  QueryClient,
  QueryObserver,
} from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { createRig } from '../rig.tsx';

const queryKey = ['list'];
const origin = 'http://api.example';

/** The state of a query that has just succeeded elsewhere. */
function succeeded(): Query['state'] {
  const client = new QueryClient();
  client.setQueryData(queryKey, 'theirs');
  return client.getQueryCache().find({ queryKey })?.state as Query['state'];
}

function hydrated(client: QueryClient): void {
  const other = new QueryClient();
  other.setQueryData(queryKey, 'theirs');
  hydrate(client, dehydrate(other));
}

/** What overwrites the state of a query while it is fetched. */
const writers: readonly [string, (client: QueryClient, query: Query) => void][] = [
  ['hydrate, as by a HydrationBoundary', hydrated],
  ['another tab by broadcastQueryClient', (_client, query) => query.setState(succeeded())],
  [
    'the devtools of React Query',
    (_client, query) => query.setState({ data: 'theirs', status: 'success' }),
  ],
  ['setQueryData', (client) => client.setQueryData(queryKey, 'theirs')],
];

/** What the query does at this moment. */
const moments: readonly [string, readonly number[], number, 'paused' | 'foreign' | undefined][] = [
  ['in its first attempt', [503, 503], 20, undefined],
  ['in an attempt of another client', [503, 503], 20, 'foreign'],
  ['in a wait', [503, 503], 300, undefined],
  ['in a wait for another client', [503, 503], 300, 'foreign'],
  ['in its second wait', [503, 503, 503], 1200, undefined],
  ['while it is paused after a failure', [503, 503, 503, 503], 1500, 'paused'],
];

test.each(
  writers.flatMap(([writer, write]) =>
    moments.map(([moment, ...given]) => [writer, moment, write, ...given] as const),
  ),
)(
  '%s gives a query other data %s: its fetch goes on, as one operation, with every attempt',
  async (_writer, _moment, write, answers, atMs, special) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const rig = createRig(special === 'paused' ? { health: {} } : {});
    rig.server.plan('/list', ...answers.map((status) => ({ status, afterMs: 50 })));
    const ask = async (): Promise<unknown> => {
      const answer = await rig.server.fetch(`${origin}/list`);
      if (!answer.ok) throw new Error(`It answered ${answer.status}`);
      return answer.json();
    };
    const observer = new QueryObserver(rig.client, {
      queryKey,
      queryFn: special === 'foreign' ? ask : () => rig.steady.json(`${origin}/list`),
    });
    observer.subscribe(() => {});
    await rig.time.advance(atMs);
    write(rig.client, rig.client.getQueryCache().find({ queryKey }) as Query);
    expect(observer.getCurrentResult()).toMatchObject({ status: 'success', data: 'theirs' });
    await rig.time.advance(60_000);
    expect(observer.getCurrentResult()).toMatchObject({
      status: 'success',
      data: `GET /list ${answers.length + 1}`,
      error: null,
    });
    expect(rig.server.sent).toHaveLength(answers.length + 1);
    const decisions = rig.events.filter(({ type }) => type === 'decision');
    expect(decisions.map(({ operation: { id, attempt } }) => [id, attempt])).toEqual(
      answers.map((_, index) => [1, index + 1]),
    );
    const warnings = warn.mock.calls.map(([text]) => String(text));
    expect(warnings.filter((text) => text.includes('persister'))).toEqual([]);
  },
);

test.each(writers)(
  '%s gives a query other data while it is paused before its first attempt: it shows them until its own come',
  async (_writer, write) => {
    const rig = createRig({ health: {} });
    rig.server.plan('/list', ...Array.from({ length: 4 }, () => 503));
    const open = (key: readonly string[]) => {
      const observer = new QueryObserver(rig.client, {
        queryKey: key,
        queryFn: () => rig.steady.json(`${origin}/list`),
      });
      observer.subscribe(() => {});
      return observer;
    };
    open(['first']);
    await rig.time.advance(1500);
    const observer = open(queryKey);
    await rig.time.advance(100);
    const sent = rig.server.sent.length;
    write(rig.client, rig.client.getQueryCache().find({ queryKey }) as Query);
    expect(observer.getCurrentResult()).toMatchObject({ status: 'success', data: 'theirs' });
    const statuses: string[] = [];
    observer.subscribe(({ status }) => void statuses.push(status));
    await rig.time.advance(60_000);
    expect(rig.server.sent.length).toBeGreaterThan(sent);
    expect(new Set(statuses)).toEqual(new Set(['success']));
    expect(observer.getCurrentResult().data).toMatch(/^GET/);
  },
);

test.each([
  ['cancelQueries', (client: QueryClient) => client.cancelQueries({ queryKey })],
  ['resetQueries', (client: QueryClient) => client.resetQueries({ queryKey })],
])('%s, which sets the state too, ends the operation all the same', async (_name, end) => {
  const rig = createRig();
  rig.server.plan('/list', 503);
  const fetching = rig.client.fetchQuery({
    queryKey,
    queryFn: () => rig.steady.json(`${origin}/list`),
  });
  const ended = fetching.catch((error: unknown) => error);
  await rig.time.advance(100);
  await end(rig.client);
  expect(await ended).toBeInstanceOf(CancelledError);
  await rig.time.advance(60_000);
  expect(rig.server.sent).toHaveLength(1);
  expect(rig.events.at(-1)).toMatchObject({ type: 'operation:end', result: 'cancelled' });
});
