import { text } from 'node:stream/consumers';
import type { AxiosStatic } from 'axios';
import { createSteadfetch, refreshOn401, retry } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import { openServer, versions } from './loopback.ts';

const [newest, previous] = versions;

/** axios as it sends: its adapter of Node in two versions, and its adapter for fetch. */
const ways: readonly (readonly [string, AxiosStatic, string | undefined])[] = [
  ...(newest
    ? [[...newest, undefined] as const, ['axios by fetch', newest[1], 'fetch'] as const]
    : []),
  ...(previous ? [[...previous, undefined] as const] : []),
];

/** A server that answers with a body that stays open after its first part, until it is told to end. */
async function openStream(axios: AxiosStatic, by: string | undefined, status = 200) {
  let resolve = (): void => {};
  const closed = new Promise<void>((done) => void (resolve = done));
  let end = (): void => {};
  const server = await openServer((response) => {
    response.once('close', () => resolve());
    response.writeHead(status, { 'content-type': 'text/plain' }).write('part');
    end = () => void response.end(' end');
  });
  const adapter = axios.defaults.adapter;
  onTestFinished(() => void Object.assign(axios.defaults, { adapter }));
  if (by) Object.assign(axios.defaults, { adapter: by });
  const steady = createSteadfetch({ policy: { timeout: 40, maxRetries: 0 } });
  onTestFinished(() => steady.dispose());
  const api = axios.create({ adapter: steadyAdapter(steady, axios) });
  return { ...server, api, steady, closed, end: () => end() };
}

describe.each(ways)('%s, with responseType stream', (_, axios, by) => {
  const open = (status?: number) => openStream(axios, by, status);

  test.each(['signal', 'CancelToken'])(
    'the %s of its caller ends it also after its headers, and its connection',
    async (means) => {
      const { api, origin, closed } = await open();
      const stop = new AbortController();
      const source = axios.CancelToken.source();
      const { data } = await api.get<NodeJS.ReadableStream>(origin, {
        responseType: 'stream',
        ...(means === 'signal' ? { signal: stop.signal } : { cancelToken: source.token }),
      });
      const reading = text(data);
      if (means === 'signal') stop.abort();
      else source.cancel();
      expect(await rejectionOf(reading)).toBeInstanceOf(Error);
      await closed;
    },
  );

  test('its caller ends it also where it is not read', async () => {
    const { api, origin, closed } = await open();
    const stop = new AbortController();
    const { status } = await api.get(origin, { responseType: 'stream', signal: stop.signal });
    expect(status).toBe(200);
    stop.abort();
    await closed;
  });

  test('its body takes the time that it takes, also in retry, whose function has a limit', async () => {
    const { api, origin, steady, end } = await open();
    const reading = retry(steady, async ({ signal }) => {
      const { data } = await api.get<NodeJS.ReadableStream>(origin, {
        responseType: 'stream',
        signal,
      });
      setTimeout(end, 80);
      return text(data);
    });
    expect(await reading).toBe('part end');
  });

  test('an abort after its end is none', async () => {
    const { api, origin, end } = await open();
    const stop = new AbortController();
    const { data } = await api.get<NodeJS.ReadableStream>(origin, {
      responseType: 'stream',
      signal: stop.signal,
    });
    end();
    expect(await text(data)).toBe('part end');
    stop.abort();
    expect(await text(data).catch(() => '')).toBe('');
  });
});

// axios' adapter for fetch lets go of its signal when it rejects.
describe.each(versions)('%s, with responseType stream', (_, axios) => {
  const open = (status: number) => openStream(axios, undefined, status);

  test('that of an error is read from the error, and ended by its caller', async () => {
    const { api, origin, closed } = await open(404);
    const stop = new AbortController();
    const error = await api
      .get(origin, { responseType: 'stream', signal: stop.signal })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'AxiosError', response: { status: 404 } });
    const { data } = (error as { response: { data: NodeJS.ReadableStream } }).response;
    const reading = text(data);
    stop.abort();
    expect(await rejectionOf(reading)).toBeInstanceOf(Error);
    await closed;
  });

  test('that of a 401 that is followed by new credentials is let go', async () => {
    const { api, origin, closed, arrived } = await open(401);
    const steady = createSteadfetch({
      apis: [{ match: origin, auth: refreshOn401({ refresh: () => true }) }],
    });
    onTestFinished(() => steady.dispose());
    const adapter = steadyAdapter(steady, axios);
    await api.get(origin, { responseType: 'stream', adapter }).catch(() => {});
    await closed;
    expect(arrived).toHaveLength(2);
  });
});
