import { MutationObserver } from '@tanstack/react-query';
import { act, renderHook } from '@testing-library/react';
import type { ReactNode } from 'react';
import axios from 'axios';
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
import { rejectionOf } from '../fetch/observe.ts';
import { createRig } from '../react-query/rig.tsx';

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
const down = [answer(503)];
const keyed = {
  apis: [{ match: url, idempotency: { ...profiles.draft, lifetimeMs: 100 } }],
} as const;

const ways: Readonly<Record<string, Way>> = {
  'a query whose next attempt is paused for too long': {
    config: { policy: { maxPauseMs: 2000 } },
    answers: down,
    run: ({ ask }) => ask(),
    error: notSent,
    outcome: { kind: 'paused-too-long' },
  },
  'a query that is not to wait': {
    config: { policy: { whenDown: 'fail' } },
    answers: down,
    run: ({ ask }) => ask(),
    error: notSent,
    outcome: { kind: 'paused-too-long' },
  },
  'retry, paused for too long': {
    config: { policy: { maxPauseMs: 2000 } },
    answers: down,
    run: ({ steady, api }) => retry(steady, ({ signal }) => api.get(url, { signal })),
    error: notSent,
    outcome: { kind: 'paused-too-long' },
  },
  'a lone request, paused for too long': {
    config: { policy: { maxPauseMs: 100 } },
    answers: down,
    async run({ api }) {
      await takeDown(api);
      return api.get(url);
    },
    error: notSent,
    outcome: { kind: 'paused-too-long', processed: 'no' },
  },
  'a mutation, paused for too long': {
    config: { policy: { maxPauseMs: 2000 }, apis: [{ match: url, idempotency: profiles.draft }] },
    answers: down,
    run: submit,
    error: notSent,
    outcome: { kind: 'paused-too-long' },
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
