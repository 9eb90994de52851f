import axios from 'axios';
import {
  type ApiProfile,
  createSteadfetch,
  deadlineHeader,
  mutationOptions,
  type PolicyOptions,
  profiles,
  refreshOn401,
  retry,
  type Steadfetch,
} from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { answer, fakeServer, type Handler, hang, origin, refuse } from '../fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../fetch/observe.ts';

beforeEach(fakeTime);

const name = 'X-Request-Timeout';
const url = `${origin}/api`;

function rig(
  handlers: readonly [Handler, ...Handler[]],
  {
    deadline = deadlineHeader(name),
    ...api
  }: Partial<ApiProfile> & { deadline?: ApiProfile['deadline'] } = {},
  config: Parameters<typeof createSteadfetch>[0] = {},
) {
  const server = fakeServer(...handlers);
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    health: false,
    apis: [{ match: url, deadline, ...api }],
    ...config,
  });
  const sent = (): (string | null)[] => server.requests.map(({ headers }) => headers.get(name));
  return { steady, server, sent };
}

const load = (steady: Steadfetch, policy: PolicyOptions = {}): Promise<Response> =>
  retry(steady, (attempt) => steady.fetch(url, attempt), policy);

describe('the header', () => {
  test('says how long the answer to an attempt is waited for', async () => {
    const { steady, sent } = rig([answer()]);
    await steady.fetch(url, { timeout: 1500 });
    await steady.fetch(url, { timeout: { headersMs: 700, bodyIdleMs: 5000 } });
    expect(sent()).toEqual(['1500', '700']);
  });

  test('says what is left of the operation, where that is less, on each attempt', async () => {
    const { steady, sent } = rig([refuse, refuse, answer()], { policy: { timeout: 10_000 } });
    observe(load(steady, { deadlineMs: 5000 }));
    await vi.runAllTimersAsync();
    expect(sent()).toEqual(['5000', '4500', '3500']);
  });

  test('does not count what the operation was paused', async () => {
    const { steady, sent } = rig(
      [refuse, refuse, answer()],
      { policy: { timeout: 60_000 } },
      { health: {} },
    );
    observe(steady.fetch(url));
    observe(steady.fetch(url));
    await settled();
    observe(load(steady, { deadlineMs: 5000 }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent().slice(2)).toEqual(['5000']);
  });

  test('may be in seconds, rounded up', async () => {
    const { steady, sent } = rig([answer()], { deadline: deadlineHeader(name, { unit: 's' }) });
    for (const timeout of [2000, 2001, 20]) await steady.fetch(url, { timeout });
    expect(sent()).toEqual(['2', '3', '1']);
  });

  test('is never negative, and never 0, which many servers take for no limit', async () => {
    const { steady, sent } = rig([answer()]);
    observe(retry(steady, (attempt) => steady.fetch(url, attempt), { deadlineMs: 0 }));
    await settled();
    const late = async (attempt: { signal: AbortSignal }): Promise<Response> => {
      await new Promise((done) => void setTimeout(done, 5000));
      return steady.fetch(url, attempt);
    };
    observe(retry(steady, late, { deadlineMs: 1000, timeout: 60_000 }));
    await vi.advanceTimersByTimeAsync(5000);
    expect(sent()).toEqual(['1', '1']);
  });

  test('is left out where there is no limit, and of another API', async () => {
    const { steady, sent } = rig([answer()]);
    await load(steady, { timeout: Infinity, deadlineMs: Infinity });
    await steady.fetch(`${origin}/other`, { timeout: 1000 });
    expect(sent()).toEqual([null, null]);
  });

  test('of the request itself stays, and so do all others', async () => {
    const { steady, server } = rig([refuse, answer()]);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const request = new Request(url, { headers: { [name]: '7', traceparent } });
    const plain = new Request(url, { headers: { traceparent, accept: 'text/plain' } });
    observe(retry(steady, (attempt) => steady.fetch(request.clone(), attempt)));
    await vi.runAllTimersAsync();
    await steady.fetch(plain, { timeout: 1000 });
    expect(server.requests.map(({ headers }) => Object.fromEntries(headers))).toEqual([
      { 'x-request-timeout': '7', traceparent },
      { 'x-request-timeout': '7', traceparent },
      { 'x-request-timeout': '1000', traceparent, accept: 'text/plain' },
    ]);
  });

  test('is measured anew when a request goes again after a 401', async () => {
    const refresh = () => new Promise((done) => void setTimeout(done, 400));
    const auth = refreshOn401({ refresh });
    const { steady, sent } = rig([answer(401), answer()], { auth, policy: { timeout: 9000 } });
    observe(load(steady, { deadlineMs: 5000 }));
    await vi.runAllTimersAsync();
    expect(sent()).toEqual(['5000', '4600']);
  });

  test('changes neither the key nor the bytes of a mutation', async () => {
    const idempotency = profiles.draft;
    const { steady, server, sent } = rig([refuse, answer(503), answer()], {
      idempotency,
      policy: { timeout: 9000 },
    });
    const order = mutationOptions(steady, {
      policy: { deadlineMs: 6000 },
      mutationFn: (body: FormData, { fetch }) => fetch(url, { method: 'POST', body }),
    });
    const form = new FormData();
    form.set('article', 'a lamp');
    observe(new MutationObserver(new QueryClient(), order).mutate(form));
    await vi.runAllTimersAsync();
    expect(sent()).toEqual(['6000', '5500', '4500']);
    const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'));
    const bodies = await Promise.all(server.requests.map((request) => request.text()));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).not.toBeNull();
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain('a lamp');
  });

  test('goes with the requests of axios, too', async () => {
    const { steady } = rig([hang], { policy: { timeout: 1200 } });
    const headers: unknown[] = [];
    const { adapter } = axios.defaults;
    onTestFinished(() => void Object.assign(axios.defaults, { adapter }));
    axios.defaults.adapter = async (config) => {
      headers.push(config.headers.get(name));
      return { data: 1, status: 200, statusText: '', headers: {}, config };
    };
    const client = axios.create({ adapter: steadyAdapter(steady, axios, { timeout: 'policy' }) });
    await client.get(url);
    expect(headers).toEqual(['1200']);
  });
});

describe('deadlineHeader', () => {
  test('refuses what is no header and no unit', () => {
    expect(() => deadlineHeader('a b')).toThrow(
      "deadlineHeader: header is 'a b', and must be the name of a header.",
    );
    expect(() => deadlineHeader(name, { unit: 'm' as never })).toThrow(
      "deadlineHeader: unit is 'm', and must be 'ms' or 's'.",
    );
    expect(() => deadlineHeader(name, { units: 's' } as never)).toThrow('did you mean unit?');
  });

  test('makes the only value that an API takes for a deadline', () => {
    const made = { match: url, deadline: name as never };
    expect(() => createSteadfetch({ apis: [made] })).toThrow('what deadlineHeader() returns');
  });
});
