import {
  focusManager,
  MutationObserver,
  QueryObserver,
  type UseMutationOptions,
} from '@tanstack/react-query';
import { render } from '@testing-library/react';
import {
  defineIdempotency,
  mutationOptions,
  type SteadfetchConfig,
  type Transport,
  watchConnectivity,
} from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import { useSafeSubmit } from 'steadfetch/react';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { setBrowserOnline } from './network.ts';
import { createRig, type Rig } from './rig.tsx';

const base = 'http://localhost:3000';
const key = ['items'];

/** A server with a list: a read takes 10 ms, a write 200 ms, and it is gone for a while. */
function createListServer() {
  const self = { isThere: true, isNetworkThere: true, list: ['old'] };
  const sent: string[] = [];
  const pass = (ms: number) => new Promise((done) => void setTimeout(done, ms));
  const fetch: Transport = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const text = await request.text();
    if (!self.isNetworkThere) throw new TypeError('Failed to fetch');
    if (pathname !== '/items') return new Response(null, { status: 204 });
    sent.push(`${request.method} ${text}`.trim());
    if (!self.isThere) return new Response('{}', { status: 503 });
    if (request.method === 'GET') {
      const list = [...self.list];
      await pass(10);
      return Response.json(list);
    }
    await pass(200);
    self.list.push(text);
    return Response.json({}, { status: 201 });
  };
  return { self, sent, fetch };
}

const apis = [{ match: base, idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }];
const add = (text: string): RequestInit => ({ method: 'POST', body: text });

type Adding = (rig: Rig) => (text: string, isInvalidating: boolean) => void;

const optimistic = ({ client }: Rig, isInvalidating: boolean) => ({
  async onMutate(text: string) {
    await client.cancelQueries({ queryKey: key });
    client.setQueryData<string[]>(key, (list = []) => [...list, text]);
  },
  onSettled: () => (isInvalidating ? client.invalidateQueries({ queryKey: key }) : undefined),
});

type Options = UseMutationOptions<Response, Error, string, void>;

/** Two forms, whose submit functions the test calls. */
function Forms({
  options,
  onSubmit,
}: {
  readonly options: Options;
  readonly onSubmit: (submits: readonly ((text: string) => unknown)[]) => void;
}) {
  const first = useSafeSubmit(options, { form: 'first' });
  const second = useSafeSubmit(options, { form: 'second' });
  onSubmit([first.submit, second.submit]);
  return null;
}

/** What adds to the list. */
const adders: Readonly<Record<string, Adding>> = {
  mutationOptions: (rig) => (text, isInvalidating) => {
    const options = mutationOptions(rig.steady, {
      mutationFn: (one: string, { fetch }) => fetch(`${base}/items`, add(one)),
      ...optimistic(rig, isInvalidating),
    });
    new MutationObserver(rig.client, options).mutate(text).catch(() => {});
  },
  'a plain mutation': (rig) => (text, isInvalidating) => {
    new MutationObserver(rig.client, {
      // Else it is not sent again after an answer of a server that is down.
      mutationFn: (one: string) =>
        rig.steady.fetch(`${base}/items`, { ...add(one), idempotent: true }),
      ...optimistic(rig, isInvalidating),
    })
      .mutate(text)
      .catch(() => {});
  },
  'a form': (rig) => {
    let submits: readonly ((text: string) => unknown)[] = [];
    const show = (isInvalidating: boolean) =>
      rig.wrap(
        <Forms
          options={mutationOptions(rig.steady, {
            mutationFn: (one: string, { fetch }) => fetch(`${base}/items`, add(one)),
            ...optimistic(rig, isInvalidating),
          })}
          onSubmit={(given) => (submits = given)}
        />,
      );
    const { rerender } = render(show(false));
    let count = 0;
    return (text, isInvalidating) => {
      rerender(show(isInvalidating));
      submits[count++]?.(text);
    };
  },
  'an entry of the outbox': (rig) => {
    const outbox = createOutbox({
      steady: rig.steady,
      queryClient: rig.client,
      handlers: {
        add: {
          mutationFn: (one: string, { fetch }) => fetch(`${base}/items`, add(one)),
          invalidates: [],
        },
      },
    });
    onTestFinished(() => outbox.dispose());
    return (text, isInvalidating) => {
      rig.client.setQueryData<string[]>(key, (list = []) => [...list, text]);
      void outbox
        .submit('add', text)
        .delivered.then(() =>
          isInvalidating ? rig.client.invalidateQueries({ queryKey: key }) : undefined,
        )
        .catch(() => {});
    };
  },
};

interface Trouble {
  readonly config: SteadfetchConfig;
  readonly begin: (rig: Rig, server: ReturnType<typeof createListServer>) => Promise<void>;
  readonly end: (rig: Rig, server: ReturnType<typeof createListServer>) => Promise<void>;
}

const goOffline: Pick<Trouble, 'begin' | 'end'> = {
  async begin({ time }, { self }) {
    self.isNetworkThere = false;
    setBrowserOnline(false);
    await time.advance(5000);
  },
  async end(_, { self }) {
    self.isNetworkThere = true;
    setBrowserOnline(true);
  },
};

const troubles: Readonly<Record<string, Trouble>> = {
  'the event online': { config: {}, ...goOffline },
  'a connectivity check': {
    config: { connectivity: watchConnectivity({ check: '/ping' }) },
    ...goOffline,
  },
  'the end of an outage': {
    config: { health: {} },
    async begin({ client, time }, { self }) {
      self.isThere = false;
      for (let count = 0; count < 8; count++) {
        void client.invalidateQueries({ queryKey: key });
        await time.advance(1000);
      }
    },
    async end(_, { self }) {
      self.isThere = true;
    },
  },
};

describe.each(Object.entries(adders))('%s, and', (_name, adding) => {
  describe.each(Object.entries(troubles))('%s:', (_trouble, { config, begin, end }) => {
    test.each([
      ['a refetch on focus', false],
      ['a refetch in onSettled', true],
    ])('%s never shows that a change is undone', async (_what, isInvalidating) => {
      vi.spyOn(console, 'warn').mockImplementation(() => {});
      const server = createListServer();
      const rig = createRig({ fetch: server.fetch, apis, ...config });
      const { client, time, steady } = rig;
      client.mount();
      onTestFinished(() => client.unmount());
      const shown: string[] = [];
      const observer = new QueryObserver<string[]>(client, {
        queryKey: key,
        queryFn: ({ signal }) => steady.json(`${base}/items`, { signal }),
      });
      onTestFinished(
        observer.subscribe(({ data = [] }) => {
          if (shown.at(-1) !== data.join()) shown.push(data.join());
        }),
      );
      const submit = adding(rig);
      await time.advance(1000);
      await begin(rig, server);
      submit('a', isInvalidating);
      await time.advance(200);
      submit('b', isInvalidating);
      await time.advance(3000);
      const count = server.sent.length;
      await end(rig, server);
      for (let step = 0; step < 40; step++) {
        if (!isInvalidating && step % 4 === 0) {
          focusManager.setFocused(false);
          focusManager.setFocused(true);
        }
        await time.advance(500);
      }
      // A server that is back is found by a probe, and that reads.
      const first = config.health ? ['POST a', 'POST b'] : server.sent.slice(count, count + 2);
      expect(first).toEqual(['POST a', 'POST b']);
      expect(server.self.list).toEqual(['old', 'a', 'b']);
      expect(shown.filter((list) => list !== '')).toEqual(['old', 'old,a', 'old,a,b']);
    });
  });
});
