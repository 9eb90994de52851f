import { MutationObserver } from '@tanstack/react-query';
import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import axios, { type AxiosError } from 'axios';
import {
  classifyOutcomes,
  isSteadfetchError,
  mutationOptions,
  outcomeOf,
  profiles,
  retry,
  type SteadfetchConfig,
} from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { type RetryControls, useRetryStatus } from 'steadfetch/react';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import { createRig } from '../core/react-query/rig.tsx';

const url = 'http://localhost:3000/orders';
const answer = (status: number, body: unknown = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json' },
  });

/** axios by fetch, with answers in order, of which the last one stays. */
function open(config: SteadfetchConfig, ...answers: readonly (Response | undefined)[]) {
  let count = 0;
  const send = async (): Promise<Response> => {
    const given = answers[Math.min(count++, answers.length - 1)];
    if (!given) throw new TypeError('Failed to fetch');
    return given.clone();
  };
  const { adapter = [] } = axios.defaults;
  onTestFinished(() => void Object.assign(axios.defaults, { adapter }));
  Object.assign(axios.defaults, { adapter: 'fetch' });
  vi.stubGlobal('fetch', send);
  const rig = createRig({ health: {}, ...config });
  const api = axios.create({ adapter: steadyAdapter(rig.steady, axios) });
  const queryOptions = {
    queryKey: ['orders'],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await api.get<unknown>(url, { signal })).data,
  };
  const ask = () => rig.client.fetchQuery(queryOptions);
  return { ...rig, api, ask, queryOptions };
}
type Opened = ReturnType<typeof open>;

/** After two failures, one after the other, its server is down. */
async function takeDown(api: Opened['api']): Promise<void> {
  await rejectionOf(api.get(url));
  await rejectionOf(api.get(url));
}

const untilPaused = ({ steady }: Opened): Promise<void> =>
  new Promise((resolve) => {
    steady.subscribe(({ type }) => {
      if (type === 'pause:start') resolve();
    });
  });

/** A mutation by axios, with its key. */
const submit = ({ steady, client, api }: Opened) =>
  new MutationObserver(
    client,
    mutationOptions(steady, {
      mutationFn: async (sku: string, { signal }) =>
        (await api.post<unknown>(url, { sku }, { signal })).data,
    }),
  ).mutate('kite');

/** The controls of the query, as a component has them. */
function controlsOf(opened: Opened): RetryControls {
  const wrapper = ({ children }: { readonly children: ReactNode }) => opened.wrap(children);
  return renderHook(() => useRetryStatus(opened.queryOptions), { wrapper }).result.current;
}

interface Way {
  readonly config?: SteadfetchConfig;
  readonly answers: readonly (Response | undefined)[];
  readonly run: (opened: Opened) => Promise<unknown>;
  readonly error: object;
  readonly outcome: object;
}

const notSent = { name: 'AxiosError', code: 'ERR_NETWORK', isAxiosError: true };
const canceled = { name: 'CanceledError', code: 'ERR_CANCELED', isAxiosError: true };
const down = [answer(503, { message: 'Maintenance' })];
const answered = {
  name: 'AxiosError',
  code: 'ERR_BAD_RESPONSE',
  response: { status: 503, data: { message: 'Maintenance' } },
};
const keyed = {
  apis: [{ match: url, idempotency: { ...profiles.draft, lifetimeMs: 100 } }],
} as const;

const ways: Readonly<Record<string, Way>> = {
  'a lone request, paused for too long': {
    config: { policy: { maxPauseMs: 100 } },
    answers: down,
    async run({ api }) {
      await takeDown(api);
      return api.get(url);
    },
    error: answered,
    outcome: { kind: 'paused-too-long', processed: 'no' },
  },
  'a mutation whose key has expired': {
    config: keyed,
    answers: [undefined],
    run: submit,
    error: notSent,
    outcome: { kind: 'expired', processed: 'unknown' },
  },
  'a paused query that its user cancels before an attempt': {
    answers: down,
    async run(opened) {
      const controls = controlsOf(opened);
      await takeDown(opened.api);
      const asked = opened.ask();
      await untilPaused(opened);
      act(() => controls.cancel());
      return asked;
    },
    error: canceled,
    outcome: { kind: 'aborted' },
  },
  'a request that is paused when its instance is disposed of': {
    answers: down,
    async run(opened) {
      const { api, steady } = opened;
      await takeDown(api);
      const asked = api.get(url);
      await untilPaused(opened);
      steady.dispose();
      return asked;
    },
    error: canceled,
    outcome: { kind: 'aborted', processed: 'no' },
  },
  'a page in the place of JSON': {
    config: { apis: [{ match: url, expect: 'json' }] },
    answers: [new Response('<p>', { headers: { 'content-type': 'text/html' } })],
    run: ({ steady, api }) =>
      retry(steady, ({ signal }) => api.get(url, { signal }), { maxRetries: 0 }),
    error: { name: 'AxiosError', code: 'ERR_BAD_RESPONSE', response: { status: 200, data: '<p>' } },
    outcome: { kind: 'body', status: 200 },
  },
};

describe('what ends otherwise than by an answer of axios is an error of axios all the same', () => {
  test.each(Object.entries(ways))(
    '%s',
    async (_, { config = {}, answers, run, error, outcome }) => {
      const opened = open(config, ...answers);
      const failing = rejectionOf(run(opened));
      await opened.time.advance(120_000);
      const thrown = await failing;
      expect(thrown).toMatchObject(error);
      expect(axios.isAxiosError(thrown)).toBe(true);
      expect(thrown).toMatchObject({ config: { url }, cause: expect.anything() as Error });
      expect(isSteadfetchError(thrown)).toBe(false);
      expect(outcomeOf(thrown)).toMatchObject(outcome);
    },
  );
});

/** Its server answers each time, and each time with a failure. Alone, axios has a `response` then, and apps read it. */
const whereAnswered: Readonly<Record<string, Pick<Way, 'config' | 'run'> & { answer?: Response }>> =
  {
    'a query whose next attempt is paused for too long': {
      config: { policy: { maxPauseMs: 2000 } },
      run: ({ ask }) => ask(),
    },
    'a query that is not to wait': {
      config: { policy: { whenDown: 'fail' } },
      run: ({ ask }) => ask(),
    },
    'retry, paused for too long': {
      config: { policy: { maxPauseMs: 2000 } },
      run: ({ steady, api }) => retry(steady, ({ signal }) => api.get(url, { signal })),
    },
    'retry, whose function has an error of its own': {
      config: { policy: { maxPauseMs: 2000 } },
      run: ({ steady, api }) =>
        retry(steady, ({ signal }) =>
          api.get(url, { signal }).catch((error: unknown) => {
            const { response } = error as AxiosError;
            throw Object.assign(new Error('Mapped', { cause: error }), { response });
          }),
        ),
    },
    'a mutation, paused for too long': {
      config: { policy: { maxPauseMs: 2000 }, apis: [{ match: url, idempotency: profiles.draft }] },
      run: submit,
    },
    'a lone request, paused for too long': {
      config: { policy: { maxPauseMs: 100 } },
      async run({ api }) {
        await takeDown(api);
        return api.get(url);
      },
    },
    'a lone write beside it': {
      config: { policy: { whenDown: 'fail' } },
      async run({ api }) {
        await takeDown(api);
        return api.post(url, {});
      },
    },
    'a request within a Retry-After': {
      config: { policy: { maxPauseMs: 100 } },
      answer: new Response('{"message":"Slow"}', {
        status: 429,
        headers: { 'content-type': 'application/json', 'retry-after': '90' },
      }),
      async run({ api }) {
        await rejectionOf(api.get(url));
        return api.get(url);
      },
    },
    'a query within a Retry-After': {
      answer: new Response('{"message":"Slow"}', {
        status: 429,
        headers: { 'content-type': 'application/json', 'retry-after': '90' },
      }),
      async run({ ask }) {
        await rejectionOf(ask());
        return ask();
      },
    },
    'a request within the Retry-After of a 503': {
      config: { policy: { whenDown: 'fail' } },
      answer: new Response('{"message":"Slow"}', {
        status: 503,
        headers: { 'content-type': 'application/json', 'retry-after': '20' },
      }),
      async run({ api }) {
        await rejectionOf(api.get(url));
        return api.get(url);
      },
    },
  };

test.each(Object.entries(whereAnswered))(
  'where the server answers each time, the error has an answer: %s',
  async (_, { config = {}, run, answer: given = down[0] }) => {
    const opened = open(config, given);
    const failing = rejectionOf(run(opened));
    await opened.time.advance(120_000);
    const { response } = (await failing) as AxiosError<{ message: string }>;
    expect(response?.status).toBe(given?.status);
    expect(response?.data.message).toMatch(/^(Maintenance|Slow)$/);
    expect(response?.headers['content-type']).toBe('application/json');
  },
);

test('JSON under another content type is data, where JSON is expected', async () => {
  const { api } = open(
    { apis: [{ match: url, expect: 'json' }] },
    new Response('{"id":1}', { headers: { 'content-type': 'text/html' } }),
  );
  expect((await api.get<unknown>(url)).data).toEqual({ id: 1 });
});

test.each([404, 409, 503])(
  'classifyResponse is given the body of a %i, and what it reads counts',
  async (status) => {
    const bodies: unknown[] = [];
    const outcomes = classifyOutcomes({
      classifyResponse(_, body) {
        bodies.push(body);
        return { status: 422, processed: 'no' };
      },
    });
    const { api } = open(
      { apis: [{ match: url, outcomes }] },
      answer(status, { code: 'sold-out' }),
    );
    const error = await rejectionOf(api.post(url, {}));
    expect(bodies).toEqual([{ code: 'sold-out' }]);
    expect(outcomeOf(error)).toMatchObject({ kind: 'http', status: 422, processed: 'no' });
    expect(error).toMatchObject({ response: { status, data: { code: 'sold-out' } } });
  },
);

test.each(['arraybuffer', 'json', 'text'] as const)(
  'classifyResponse is given parsed JSON also where axios is asked for %s',
  async (responseType) => {
    const bodies: unknown[] = [];
    const outcomes = classifyOutcomes({
      classifyResponse: (_, body) => void bodies.push(body),
    });
    const { api } = open({ apis: [{ match: url, outcomes }] }, answer(200, { id: 1 }));
    await api.get(url, { responseType });
    expect(bodies).toEqual([{ id: 1 }]);
  },
);
