import { createSteadfetch, isTimeoutError } from 'steadfetch';
import { steadyAdapter, type SteadyAdapterOptions } from 'steadfetch/axios';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import { openServer, versions } from './loopback.ts';

describe.each(versions)('%s', (_, axios) => {
  /** A server that answers after 80 ms, and a policy whose limit is 40 ms. */
  async function open(options?: SteadyAdapterOptions) {
    const server = await openServer((response) => {
      response.setHeader('content-type', 'application/json');
      setTimeout(() => response.end('{"id":1}'), 80);
    });
    const steady = createSteadfetch({ policy: { timeout: 40 } });
    onTestFinished(() => steady.dispose());
    const api = axios.create({ adapter: steadyAdapter(steady, axios, options) });
    return { ...server, steady, api };
  }

  test.each([{}, { timeout: 0 }, { timeout: 5000 }])(
    'a server that is slower than the limit of the policy is waited for: %o',
    async (config) => {
      const { api, origin, arrived } = await open();
      expect((await api.get(origin, config)).data).toEqual({ id: 1 });
      expect(arrived).toHaveLength(1);
    },
  );

  test.each([
    ['its own 0', { timeout: 0 }],
    ['none of its own', {}],
  ])('with timeout: policy a request with %s has the limit of the policy', async (__, config) => {
    const { api, origin } = await open({ timeout: 'policy' });
    const error = await rejectionOf(api.get(origin, config));
    expect(error).toMatchObject({ name: 'AxiosError', code: 'ECONNABORTED' });
    expect(isTimeoutError((error as Error).cause)).toBe(true);
  });

  test('with timeout: policy a limit of axios takes the place of that of the policy, be it longer or shorter', async () => {
    const { api, origin } = await open({ timeout: 'policy' });
    expect((await api.get(origin, { timeout: 5000 })).status).toBe(200);
    expect(await rejectionOf(api.get(origin, { timeout: 5 }))).toMatchObject({
      message: 'timeout of 5ms exceeded',
    });
  });

  test('a misspelt option of the adapter is a mistake that is told at once', () => {
    const steady = createSteadfetch();
    onTestFinished(() => steady.dispose());
    const make = (options: object) => () => steadyAdapter(steady, axios, options);
    expect(make({ timeoutMs: 5 })).toThrow('did you mean timeout?');
    expect(make({ timeout: 5000 })).toThrow(
      'steadyAdapter: timeout is 5000, and must be axios or policy.',
    );
  });
});

describe('axios, newest, with timeout: policy', () => {
  const [newest] = versions;
  const axios = newest?.[1] ?? expect.unreachable();

  test('each progress of a download starts the limit anew, and the handler of the app is told of it, too', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let go = (): void => {};
    const { origin } = await openServer((response) => {
      response.setHeader('content-type', 'application/json').write('{"id"');
      go = () => void response.end(':1}');
    });
    const steady = createSteadfetch({ policy: { timeout: 1000 } });
    onTestFinished(() => steady.dispose());
    const api = axios.create({ adapter: steadyAdapter(steady, axios, { timeout: 'policy' }) });
    let resolve = (): void => {};
    const begun = new Promise<void>((done) => void (resolve = done));
    const told: number[] = [];
    const sending = api.get<unknown>(origin, {
      onDownloadProgress: ({ loaded }) => {
        told.push(loaded);
        resolve();
      },
    });
    vi.advanceTimersByTime(900);
    await begun;
    vi.advanceTimersByTime(900);
    go();
    expect((await sending).data).toEqual({ id: 1 });
    expect(told[0]).toBe(5);
  });

  test('a download that has stopped is cut off', async () => {
    const { origin } = await openServer((response) => {
      response.setHeader('content-type', 'application/json').write('{"id"');
    });
    const steady = createSteadfetch({ policy: { timeout: 40 } });
    onTestFinished(() => steady.dispose());
    const api = axios.create({ adapter: steadyAdapter(steady, axios, { timeout: 'policy' }) });
    const error = await rejectionOf(api.get(origin));
    expect(error).toMatchObject({ name: 'AxiosError', code: 'ECONNABORTED' });
  });
});
