import { MutationObserver, type QueryFunction } from '@tanstack/react-query';
import ky from 'ky';
import createClient from 'openapi-fetch';
import { linkClient, mutationOptions, profiles, rawFetchFor } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(console, 'warn').mockImplementation((message) => void warnings.push(String(message)));
});

const { origin } = location;

interface paths {
  '/it': { get: { responses: object }; post: { responses: object } };
}
const createApi = ({ steady }: Rig) =>
  createClient<paths>({ baseUrl: origin, fetch: steady.rawFetch });

/** No Error, as the client hands it out. */
async function reject(body: unknown): Promise<never> {
  throw body as Error;
}

async function ask({ client, time }: Rig, queryFn: QueryFunction): Promise<void> {
  const asked = client.fetchQuery({ queryKey: ['it'], queryFn }).catch(() => {});
  await Promise.all([asked, time.advance(200_000)]);
}

test('a client that gives fetch another signal: one warning names what links it', async () => {
  const rig = createRig();
  const api = createApi(rig);
  rig.server.plan('/it', 404, 404, 404, 404);
  await ask(rig, async ({ signal }) => {
    await Promise.resolve();
    const { error } = await api.GET('/it', { signal });
    return reject(error);
  });
  expect(warnings).toEqual([
    expect.stringMatching(/A request of the query \["it"\] is not known.*linkClient\(steady, /s),
  ]);
});

test('linked, it is quiet, and a 404 is sent once', async () => {
  const rig = createRig();
  const api = linkClient(rig.steady, createApi(rig));
  rig.server.plan('/it', 404, 404, 404, 404);
  await ask(rig, async ({ signal }) => {
    await Promise.resolve();
    const { error } = await api.GET('/it', { signal });
    return reject(error);
  });
  expect(rig.server.times('/it')).toHaveLength(1);
  expect(warnings).toEqual([]);
});

test('in the synchronous part of a queryFn any signal will do, as one with a time limit', async () => {
  const rig = createRig();
  const api = linkClient(rig.steady, createApi(rig));
  api.use({ onRequest: async ({ request }) => new Request(request) });
  rig.server.plan('/it', 404, 404, 404, 404);
  await ask(rig, async ({ signal }) => {
    const limited = AbortSignal.any([signal, new AbortController().signal]);
    const { error } = await api.GET('/it', { signal: limited });
    return reject(error);
  });
  expect(rig.server.times('/it')).toHaveLength(1);
});

test('a fetch that a call is given is left to it', async () => {
  const { steady } = createRig();
  const given = vi.fn<typeof fetch>(async () => new Response('{}'));
  const api = linkClient(steady, createApi({ steady } as Rig));
  await api.GET('/it', { signal: new AbortController().signal, fetch: given });
  expect(given).toHaveBeenCalledTimes(1);
});

test.each([{ strength: 5 }, ['red'], 'red', 5, null, () => 'red'])(
  'the data of an app may have a field of the name signal: %j',
  (signal) => {
    const create = vi.fn<(data: object) => void>();
    linkClient(createRig().steady, { create }).create({ signal });
    expect(create.mock.calls).toEqual([[{ signal }]]);
  },
);

test('what is no call stays what it is', () => {
  class Shop {
    readonly #name = 'shop';
    readonly frozen = Object.freeze({ list: () => 1 });
    readonly count = 3;
    get = (options: object): object => options;
    name(): string {
      return this.#name;
    }
  }
  const shop = new Shop();
  const linked = linkClient(createRig().steady, shop);
  const options = { signal: undefined };
  expect([linked.name(), linked.count, linked.frozen.list()]).toEqual(['shop', 3, 1]);
  expect(linked.get(options)).toBe(options);
  expect(linked.get).toBe(linked.get);
  expect(linked).toBeInstanceOf(Shop);
});

test("rawFetchFor of no signal, or of one that is no operation's, is as steady.rawFetch", async () => {
  const { steady, server } = createRig();
  server.plan('/it', 404, 404);
  expect((await rawFetchFor(steady, undefined)('/it')).status).toBe(404);
  const controller = new AbortController();
  expect((await rawFetchFor(steady, controller.signal)('/it')).status).toBe(404);
  controller.abort('left');
  await expect(rawFetchFor(steady, controller.signal)('/it')).rejects.toBe('left');
});

test('what is no instance, or no client, is refused', () => {
  const { steady } = createRig();
  expect(() => linkClient({} as never, {})).toThrow('linkClient: its first argument');
  expect(() => linkClient(steady, 7 as never)).toThrow('linkClient: its second argument');
  expect(() => rawFetchFor({} as never, undefined)).toThrow('rawFetchFor: its first argument');
});

test('the rawFetch of a mutation gives another client its key, also after an await', async () => {
  const rig = createRig({ apis: [{ match: '/', idempotency: profiles.draft }] });
  const api = createApi(rig);
  rig.server.plan('/it', 503, 200);
  const options = mutationOptions(rig.steady, {
    mutationFn: async (_: void, { rawFetch }) => {
      await Promise.resolve();
      const { error } = await api.POST('/it', { fetch: rawFetch });
      return error ? reject(error) : 'done';
    },
  });
  const done = new MutationObserver(rig.client, options).mutate();
  await rig.time.advance(10_000);
  expect(await done).toBe('done');
  expect(rig.server.times('/it')).toHaveLength(2);
});

test.each(['extend', 'create'] as const)('what ky makes by %s is linked, too', async (how) => {
  const rig = createRig();
  const base = linkClient(rig.steady, ky.create({ fetch: rig.steady.rawFetch, retry: 0 }));
  const api = base[how]({ headers: { from: 'here' }, fetch: rig.steady.rawFetch, retry: 0 });
  rig.server.plan('/it', 404, 404, 404, 404);
  await ask(rig, async ({ signal }) => {
    await Promise.resolve();
    try {
      return await api.get(`${origin}/it`, { signal }).json();
    } catch {
      return reject({ message: 'none' });
    }
  });
  expect(rig.server.times('/it')).toHaveLength(1);
});
