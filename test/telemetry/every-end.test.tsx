import {
  MutationObserver,
  QueryClient,
  QueryClientProvider,
  QueryObserver,
  useQuery,
} from '@tanstack/react-query';
import { act, cleanup, render } from '@testing-library/react';
import axios, {
  type AxiosAdapter,
  AxiosError,
  type AxiosInstance,
  type InternalAxiosRequestConfig,
} from 'axios';
import {
  composePersister,
  fallback,
  mutationOptions,
  retry,
  type Steadfetch,
  type SteadfetchConfig,
} from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { mutationControlsOf, queryControlsOf } from '../../src/core/react-query/controls.ts';
import { mutationIdOf, mutationStatusesOf } from '../../src/core/react-query/status/mutation.ts';
import { queryStatusesOf } from '../../src/core/react-query/status/query.ts';
import { answer, type Handler, hang, refuse } from '../core/fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../core/fetch/observe.ts';
import { createBrowser, settle, shop, type TestTab } from '../outbox/rig.ts';
import { createFormRig } from '../core/react/form-rig.tsx';
import { open, url } from './rig.ts';

beforeEach(fakeTime);

/** How the operations of an instance have ended, and whatever is wrong with what is told of them. */
function watch(steady: Steadfetch) {
  const running = new Set<number>();
  const paused = new Map<number, number>();
  const ended: string[] = [];
  const over = new Set<number>();
  const faults: string[] = [];
  steady.subscribe((event) => {
    const { id, kind } = event.operation;
    if (over.has(id)) faults.push(`${event.type} after the end of ${kind} ${id}`);
    if (event.type === 'operation:start') {
      if (running.has(id)) faults.push(`a second start of ${kind} ${id}`);
      running.add(id);
    } else if (event.type === 'operation:end') {
      if (!running.delete(id)) faults.push(`an end of ${kind} ${id} without a start`);
      over.add(id);
      paused.delete(id);
      ended.push(`${kind} ${event.result}`);
    } else if (event.type === 'pause:start') paused.set(id, 1);
    else if (event.type === 'pause:end') paused.delete(id);
  });
  return { ended, faults, open: () => [...running, ...paused.keys()] };
}

interface Stage extends ReturnType<typeof open> {
  readonly client: QueryClient;
  /** Fetches the query, as a component that shows it does, until it is left. */
  readonly show: (own?: object) => () => void;
  /** Runs a mutation. */
  readonly mutate: (options: object) => void;
  /** An endpoint that is down. */
  readonly breakDown: () => Promise<void>;
}

const queryKey = ['items'];

function setUp(handlers: readonly [Handler, ...Handler[]], config: SteadfetchConfig): Stage {
  const { steady, server } = open(handlers, config);
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  return {
    steady,
    server,
    client,
    show: (own = {}) =>
      new QueryObserver(client, {
        queryKey,
        queryFn: async ({ signal }) => (await steady.fetch(url, { signal })).status,
        ...own,
      }).subscribe(() => {}),
    mutate: (options) => void observe(new MutationObserver(client, options).mutate()),
    async breakDown() {
      observe(steady.fetch(url));
      observe(steady.fetch(url));
      await settled();
    },
  };
}

type Case = [
  name: string,
  handlers: readonly [Handler, ...Handler[]],
  act: (stage: Stage) => unknown,
  ended: readonly string[],
  config?: SteadfetchConfig,
];

const wait = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const load = (steady: Steadfetch, signal?: AbortSignal): void =>
  void observe(retry(steady, (context) => steady.fetch(url, context), { signal }));
const steadyPut = ({ steady }: Stage): object =>
  mutationOptions(steady, {
    mutationKey: ['put'],
    mutationFn: async (_: void, { fetch }) => (await fetch(url, { method: 'PUT' })).status,
  });
const refuseAxios = (config: InternalAxiosRequestConfig): never => {
  throw new AxiosError('Network Error', 'ERR_NETWORK', config);
};
const unreachable = axios.create({ adapter: refuseAxios });
/** axios with our adapter, in which the first so many requests get no answer. */
function steadyAxios(steady: Steadfetch, refused: number): AxiosInstance {
  let count = 0;
  const send: AxiosAdapter = async (config) =>
    ++count > refused
      ? { status: 200, statusText: 'OK', data: '{}', headers: {}, config }
      : refuseAxios(config);
  const itself = { ...axios, getAdapter: () => send };
  return axios.create({ adapter: steadyAdapter(steady, itself) });
}

const queries: readonly Case[] = [
  ['that succeeds', [refuse, answer()], ({ show }) => show(), ['query succeeded']],
  ['that fails for good', [answer(404)], ({ show }) => show(), ['query failed']],
  [
    'without retries, in an outage that does not pause it',
    [refuse],
    async ({ breakDown, show }) => {
      await breakDown();
      const leave = show({ retry: false });
      await wait(100);
      leave();
    },
    ['query failed'],
  ],
  [
    'that is fetched anew while it is sent',
    [hang, answer()],
    async ({ client, show }) => {
      client.setQueryData(queryKey, 200);
      show();
      await wait(100);
      void client.invalidateQueries({ queryKey }, { cancelRefetch: true });
    },
    ['query superseded', 'query succeeded'],
  ],
  [
    'that is fetched anew while it waits for its next attempt',
    [refuse, answer()],
    async ({ client, show }) => {
      client.setQueryData(queryKey, 200);
      show();
      await wait(100);
      void client.invalidateQueries({ queryKey }, { cancelRefetch: true });
    },
    ['query superseded', 'query succeeded'],
  ],
  [
    'that is fetched anew while it is paused',
    [refuse, refuse, answer()],
    async ({ client, breakDown, show }) => {
      client.setQueryData(queryKey, 200);
      await breakDown();
      show();
      await wait(100);
      void client.invalidateQueries({ queryKey }, { cancelRefetch: true });
    },
    ['query superseded', 'query succeeded'],
  ],
  [
    'that is cancelled by queryClient while it waits',
    [refuse],
    async ({ client, show }) => {
      show();
      await wait(100);
      void client.cancelQueries();
    },
    ['query cancelled'],
  ],
  [
    'that a user cancels while it waits',
    [refuse],
    async ({ client, show }) => {
      show();
      await wait(100);
      queryControlsOf(queryStatusesOf(client, 'test'), '["items"]').cancel();
    },
    ['query cancelled'],
  ],
  [
    'that a user asks for while it waits',
    [refuse, answer()],
    async ({ client, show }) => {
      show();
      await wait(100);
      queryControlsOf(queryStatusesOf(client, 'test'), '["items"]').retryNow();
    },
    ['query superseded', 'query succeeded'],
  ],
  [
    'that queryClient.clear() removes while it waits',
    [refuse],
    async ({ client, show }) => {
      show();
      await wait(100);
      client.clear();
    },
    ['query cancelled'],
  ],
  [
    'that removeQueries removes while it is sent',
    [hang],
    async ({ client, show }) => {
      show();
      await wait(100);
      client.removeQueries();
    },
    ['query cancelled'],
  ],
  [
    'that is left while it is sent',
    [hang],
    async ({ show }) => {
      const leave = show();
      await wait(100);
      leave();
    },
    ['query cancelled'],
  ],
  [
    'whose component is unmounted while it is paused',
    [refuse],
    async ({ steady, client, breakDown }) => {
      await breakDown();
      const Items = (): null => {
        useQuery({ queryKey, queryFn: () => steady.json(url) });
        return null;
      };
      act(() => {
        render(
          <QueryClientProvider client={client}>
            <Items />
          </QueryClientProvider>,
        );
      });
      await wait(100);
      cleanup();
    },
    ['query cancelled'],
  ],
  [
    'whose instance is disposed of while it is paused',
    [refuse],
    async ({ steady, breakDown, show }) => {
      await breakDown();
      show();
      await wait(100);
      steady.dispose();
    },
    ['query cancelled'],
  ],
  [
    'whose instance is disposed of while it waits, and which goes on',
    [refuse, answer()],
    async ({ steady, show }) => {
      show();
      await wait(100);
      steady.dispose();
    },
    ['query succeeded'],
  ],
  [
    'that shows a fallback',
    [answer(404)],
    ({ steady, show }) => show(steady.queryPolicy({ fallback: fallback(() => 1) })),
    ['query failed'],
  ],
  [
    'with an own retry that goes on where the policy stops',
    [answer(404), answer()],
    ({ show }) => show({ retry: 1 }),
    ['query succeeded'],
  ],
  [
    'that an own persister fetches',
    [refuse, answer()],
    ({ steady, show }) => show(composePersister(steady, (queryFn, context) => queryFn(context))),
    ['query succeeded'],
  ],
  [
    'that an own persister restores',
    [hang],
    ({ steady, show }) => show(composePersister(steady, async () => 200 as never)),
    ['query succeeded'],
  ],
  [
    'of axios with our adapter',
    [hang],
    ({ steady, show }) => {
      const client = steadyAxios(steady, 1);
      show({
        queryFn: async ({ signal }: { signal: AbortSignal }) =>
          (await client.get(url, { signal })).status,
      });
    },
    ['query succeeded'],
  ],
  [
    'of axios without our adapter',
    [hang],
    ({ show }) => show({ queryFn: () => unreachable.get(url) }),
    ['query failed'],
  ],
];

const mutations: readonly Case[] = [
  [
    'that succeeds',
    [refuse, answer()],
    (stage) => stage.mutate(steadyPut(stage)),
    ['mutation succeeded'],
  ],
  [
    'that fails for good',
    [answer(404)],
    (stage) => stage.mutate(steadyPut(stage)),
    ['mutation failed'],
  ],
  [
    'that a user cancels while it waits',
    [refuse],
    async (stage) => {
      const statuses = mutationStatusesOf(stage.client, 'test');
      stage.mutate(steadyPut(stage));
      await wait(100);
      mutationControlsOf(statuses, mutationIdOf({ mutationKey: ['put'] })).cancel();
    },
    ['mutation cancelled'],
  ],
  [
    'that a user cancels before its turn has come',
    [hang],
    async (stage) => {
      const options = { ...steadyPut(stage), scope: { id: 'one' } };
      const statuses = mutationStatusesOf(stage.client, 'test');
      stage.mutate(options);
      await wait(100);
      stage.mutate(options);
      mutationControlsOf(statuses, mutationIdOf({ mutationKey: ['put'] })).cancel();
    },
    ['mutation failed'],
    { policy: { timeout: 1000, maxRetries: 0 } },
  ],
  [
    'that queryClient.clear() removes while it waits, and that is not sent again',
    [refuse],
    async (stage) => {
      stage.mutate(steadyPut(stage));
      await wait(100);
      stage.client.clear();
    },
    ['mutation cancelled'],
  ],
  [
    'whose instance is disposed of while it waits',
    [refuse],
    async (stage) => {
      stage.mutate(steadyPut(stage));
      await wait(100);
      stage.steady.dispose();
    },
    ['mutation cancelled'],
  ],
  [
    'without mutationOptions that succeeds, of which nobody knows when it begins',
    [refuse, answer()],
    ({ steady, mutate }) => mutate({ mutationFn: () => steady.fetch(url, { method: 'PUT' }) }),
    [],
  ],
  [
    'without mutationOptions that fails',
    [refuse],
    ({ steady, mutate }) => mutate({ mutationFn: () => steady.fetch(url, { method: 'PUT' }) }),
    [],
  ],
  [
    'without mutationOptions, of axios with our adapter',
    [hang],
    ({ steady, mutate }) => {
      const client = steadyAxios(steady, Infinity);
      mutate({ mutationFn: () => client.put(url) });
    },
    [],
  ],
  [
    'without mutationOptions, of axios without our adapter',
    [hang],
    ({ mutate }) => mutate({ mutationFn: () => unreachable.put(url) }),
    [],
  ],
];

const calls: readonly Case[] = [
  ['of retry that succeeds', [refuse, answer()], ({ steady }) => load(steady), ['call succeeded']],
  ['of retry that fails', [answer(404)], ({ steady }) => load(steady), ['call failed']],
  [
    'of retry that is aborted before it begins',
    [hang],
    ({ steady }) => load(steady, AbortSignal.abort()),
    [],
  ],
  ...(
    [
      ['in an attempt', [hang]],
      ['while it waits', [refuse]],
    ] as const
  ).map(([when, handlers]): Case => [
    `of retry that is aborted ${when}`,
    handlers,
    async ({ steady }) => {
      const controller = new AbortController();
      load(steady, controller.signal);
      await wait(100);
      controller.abort();
    },
    ['call cancelled'],
  ]),
  [
    'of retry that is aborted while it is paused',
    [refuse],
    async ({ steady, breakDown }) => {
      await breakDown();
      const controller = new AbortController();
      load(steady, controller.signal);
      await wait(100);
      controller.abort();
    },
    ['call cancelled'],
  ],
  [
    'of retry whose instance is disposed of while it waits',
    [refuse],
    async ({ steady }) => {
      load(steady);
      await wait(100);
      steady.dispose();
    },
    ['call cancelled'],
  ],
  ['of steady.fetch alone', [answer(503)], ({ steady }) => void observe(steady.fetch(url)), []],
  [
    'of axios alone, with our adapter',
    [hang],
    ({ steady }) => void observe(steadyAxios(steady, 1).get(url)),
    [],
  ],
  [
    'of steady.fetch alone that is aborted while it is paused',
    [refuse],
    async ({ steady, breakDown }) => {
      await breakDown();
      const controller = new AbortController();
      observe(steady.fetch(url, { signal: controller.signal }));
      await wait(100);
      controller.abort();
    },
    [],
  ],
];

describe('what begins also ends, once', () => {
  test.each<Case>([
    ...queries.map(([name, ...rest]): Case => [`a query ${name}`, ...rest]),
    ...mutations.map(([name, ...rest]): Case => [`a mutation ${name}`, ...rest]),
    ...calls.map(([name, ...rest]): Case => [`a call ${name}`, ...rest]),
  ])('%s', async (_, handlers, run, ended, config = {}) => {
    const stage = setUp(handlers, config);
    const watched = watch(stage.steady);
    await run(stage);
    await wait(300_000);
    expect(watched.faults).toEqual([]);
    expect(watched.open()).toEqual([]);
    expect(watched.ended).toEqual(ended);
  });

  test('a form', async () => {
    vi.useRealTimers();
    const rig = createFormRig();
    const watched = watch(rig.steady);
    const form = rig.createForm();
    rig.show(<form.Form />);
    void form.press();
    await rig.time.settle();
    expect(watched.faults).toEqual([]);
    expect(watched.ended).toEqual(['mutation succeeded']);
  });
});

type Tab = TestTab<typeof shop>;
interface OutboxStage {
  readonly browser: ReturnType<typeof createBrowser>;
  readonly tab: Tab;
  readonly key: string;
}

type EntryCase = [
  name: string,
  answers: readonly (readonly [status: number, headers?: Record<string, string>])[],
  act: (stage: OutboxStage) => unknown,
  ended: readonly string[],
  limits?: object,
];

const later = [503, { 'retry-after': '5' }] as const;
const entries: readonly EntryCase[] = [
  ['that is delivered at its second attempt', [later, [200]], () => {}, ['mutation succeeded']],
  ['that is refused', [[400]], () => {}, ['mutation failed']],
  [
    'that is asked to wait for longer than the policy waits',
    [[503, { 'retry-after': '500' }], [200]],
    () => {},
    ['mutation succeeded'],
  ],
  ['that reaches maxAttempts', [later, later], () => {}, ['mutation failed'], { maxAttempts: 2 }],
  ['that reaches maxAgeMs', [later], () => {}, ['mutation failed'], { maxAgeMs: 100 }],
  [
    'that is discarded while it waits',
    [later],
    ({ tab, key }) => tab.outbox.discard(key),
    ['mutation cancelled'],
  ],
  [
    'that is cleared while it waits',
    [later],
    ({ tab }) => tab.outbox.clear(),
    ['mutation cancelled'],
  ],
  [
    'that is edited while it waits',
    [later, [200]],
    ({ tab, key }) => tab.outbox.edit(key, { sku: 'dragon' }),
    ['mutation cancelled', 'mutation succeeded'],
  ],
  [
    'whose outbox is disposed of while it waits',
    [later],
    ({ tab }) => tab.outbox.dispose(),
    ['mutation cancelled'],
  ],
  [
    'that another tab discards',
    [later],
    ({ browser, key }) => browser.openTab({ handlers: shop }).outbox.discard(key),
    ['mutation cancelled'],
  ],
  [
    'that another tab delivers',
    [later, [200]],
    ({ browser, key }) => browser.openTab({ handlers: shop }).outbox.retry(key),
    ['mutation succeeded'],
  ],
  [
    'whose page is put away, and that another tab delivers',
    [later, [200]],
    ({ browser, tab }) => {
      browser.openTab({ handlers: shop });
      tab.freeze();
    },
    ['mutation cancelled'],
  ],
];

describe('an entry of the outbox is an operation, which begins and ends once', () => {
  beforeEach(() => void vi.useRealTimers());

  test.each<EntryCase>(entries)('one %s', async (_, answers, run, ended, limits = {}) => {
    const browser = createBrowser();
    browser.server.rule = ({ answer: give }, count) => {
      const [status, headers = {}] = answers[count - 1] ?? [500];
      give(status, {}, headers);
    };
    const handlers = { order: { ...shop.order, ...limits } };
    const tab = browser.openTab({ handlers });
    const watched = watch(tab.steady);
    const { idempotencyKey: key, delivered } = tab.outbox.submit('order', { sku: 'kite' });
    observe(delivered);
    await browser.pass(200);
    const acted = run({ browser, tab, key });
    await settle();
    await acted;
    await browser.pass(600_000, 5000);
    expect(watched.faults).toEqual([]);
    expect(watched.open()).toEqual([]);
    expect(watched.ended).toEqual(ended);
  });

  test('one that the next page delivers begins there', async () => {
    const browser = createBrowser();
    browser.server.rule = ({ answer: give }, count) =>
      give(count === 1 ? 503 : 200, {}, { 'retry-after': '5' });
    const first = browser.openTab({ handlers: shop });
    observe(first.outbox.submit('order', { sku: 'kite' }).delivered);
    await browser.pass(200);
    first.crash();
    const next = browser.openTab({ handlers: shop });
    const watched = watch(next.steady);
    await browser.pass(60_000, 1000);
    expect(watched.faults).toEqual([]);
    expect(watched.ended).toEqual(['mutation succeeded']);
  });
});
