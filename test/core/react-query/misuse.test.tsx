import { useMutation, useQuery } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import {
  composePersister,
  createSteadfetch,
  defineIdempotency,
  mergeDefaultOptions,
  mutationOptions,
  observeOnly,
  rateLimitFields,
  retry,
  shareAcrossTabs,
  type Steadfetch,
  watchConnectivity,
} from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import { useMutationStatus, useRetryStatus, useSteadyMutation } from 'steadfetch/react';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(console, 'warn').mockImplementation((message) => void warnings.push(String(message)));
});
afterEach(() => vi.unstubAllEnvs());

/** The error of a call that plain JavaScript can make. */
async function faultOf(call: (steady: AnySteady) => unknown): Promise<string> {
  const steady = createSteadfetch({ fetch: async () => new Response('{}') });
  try {
    await call(steady as unknown as AnySteady);
    return 'none';
  } catch (error) {
    return `${error as Error}`;
  } finally {
    steady.dispose();
  }
}

type Any = (...given: unknown[]) => unknown;
interface AnySteady {
  readonly fetch: Any;
  readonly json: Any;
  readonly queryPolicy: Any;
}

describe('a name or a shape that is wrong is an error, which says what was meant', () => {
  test.each<[string, (steady: AnySteady) => unknown, string | RegExp]>([
    [
      'createSteadfetch({ retries })',
      () => (createSteadfetch as Any)({ retries: 5 }),
      /^TypeError: createSteadfetch: retries is 5, and must be left out: .*: did you mean policy: \{ maxRetries \}\?\.$/,
    ],
    [
      'createSteadfetch({ maxRetry })',
      () => (createSteadfetch as Any)({ maxRetry: 5 }),
      /did you mean policy: \{ maxRetries \}\?\.$/,
    ],
    [
      'createSteadfetch({ api })',
      () => (createSteadfetch as Any)({ api: [] }),
      /did you mean apis\?\.$/,
    ],
    [
      'createSteadfetch({ match })',
      () => (createSteadfetch as Any)({ match: '/api' }),
      /did you mean apis: \[\{ match \}\]\?\.$/,
    ],
    [
      'policy: { maxRetry }',
      () => (createSteadfetch as Any)({ policy: { maxRetry: 3 } }),
      /did you mean maxRetries\?\.$/,
    ],
    [
      'a name of other libraries',
      (steady) => steady.queryPolicy({ retryDelay: 3 }),
      /^TypeError: steady.queryPolicy: retryDelay is 3.*did you mean baseMs\?\.$/,
    ],
    [
      'a pattern for a match',
      () => (createSteadfetch as Any)({ apis: [{ match: '/api/*' }] }),
      "TypeError: createSteadfetch: apis[0]: match is '/api/*', and must be a URL or a path without *: '/api' fits all below it.",
    ],
    [
      'a pattern for all',
      () => (createSteadfetch as Any)({ apis: [{ match: '*' }] }),
      /'\/' fits all below it\.$/,
    ],
    [
      'an option of the policy beside it',
      () => (createSteadfetch as Any)({ apis: [{ match: '/api', timeout: 5 }] }),
      /did you mean policy: \{ timeout \}\?\.$/,
    ],
    [
      'steady.fetch(url, { maxRetries })',
      (steady) => steady.fetch('/a', { maxRetries: 3 }),
      'TypeError: steady.fetch: maxRetries is 3, and must be left out: did you mean policy: { maxRetries }?.',
    ],
    [
      'steady.json(url, { idempotencykey })',
      (steady) => steady.json('/a', { idempotencykey: 'a' }),
      /^TypeError: steady.fetch: idempotencykey is 'a'.*did you mean idempotencyKey\?\.$/,
    ],
    [
      'mutationOptions with the retry of React Query',
      (steady) => (mutationOptions as Any)(steady, { mutationFn: () => 1, retry: 3 }),
      'TypeError: mutationOptions: retry is 3, and must be left out: did you mean policy: { maxRetries }?.',
    ],
    [
      'mutationOptions with an option of the policy beside it',
      (steady) => (mutationOptions as Any)(steady, { mutationFn: () => 1, preset: 'critical' }),
      /did you mean policy: \{ preset \}\?\.$/,
    ],
    [
      'retry(steady, run, { retries })',
      (steady) => (retry as Any)(steady, () => 1, { retries: 3 }),
      /^TypeError: retry: retries is 3.*did you mean maxRetries\?\.$/,
    ],
    [
      'watchConnectivity(url)',
      () => (watchConnectivity as Any)('/ping'),
      "TypeError: watchConnectivity: its argument is '/ping', and must be an object.",
    ],
    [
      'watchConnectivity({ url })',
      () => (watchConnectivity as Any)({ url: '/ping' }),
      /did you mean check\?\.$/,
    ],
    [
      'watchConnectivity({ check: { timeout } })',
      () => (watchConnectivity as Any)({ check: { url: '/ping', timeout: 5 } }),
      /^TypeError: watchConnectivity: check: timeout is 5.*did you mean timeoutMs\?\.$/,
    ],
    [
      'defineIdempotency({ headers })',
      () => (defineIdempotency as Any)({ headers: 'X-Key' }),
      /^TypeError: defineIdempotency: headers is 'X-Key'.*did you mean header\?\.$/,
    ],
    [
      'rateLimitFields({ remain })',
      () => (rateLimitFields as Any)({ remain: 'X' }),
      /^TypeError: rateLimitFields: remain is 'X'.*did you mean remaining\?\.$/,
    ],
    [
      'shareAcrossTabs({ name })',
      () => (shareAcrossTabs as Any)({ name: 'x' }),
      /^TypeError: shareAcrossTabs: name is 'x'/,
    ],
    [
      'shareAcrossTabs without functions',
      () => (shareAcrossTabs as Any)({ open: 5 }),
      'TypeError: shareAcrossTabs: open is 5, and must be a function.',
    ],
    [
      'mergeDefaultOptions without an instance',
      () => (mergeDefaultOptions as Any)({ queries: {} }),
      'TypeError: mergeDefaultOptions: its first argument is {"queries":{}}, and must be what createSteadfetch returns.',
    ],
    [
      'composePersister with what persisterFn is a member of',
      (steady) => (composePersister as Any)(steady, { persisterFn: 1 }),
      'TypeError: composePersister: its second argument is {"persisterFn":1}, and must be a function, as persisterFn is.',
    ],
    [
      'an outbox without handlers',
      (steady) => (createOutbox as Any)({ steady }),
      'TypeError: createOutbox: handlers is undefined, and must be an object with a handler for each name.',
    ],
    [
      'an outbox with a list of handlers',
      (steady) => (createOutbox as Any)({ steady, handlers: [] }),
      'TypeError: createOutbox: handlers is [], and must be an object with a handler for each name.',
    ],
    [
      'an outbox with no handler',
      (steady) => (createOutbox as Any)({ steady, handlers: {} }),
      'TypeError: createOutbox: handlers is {}, and must be an object with a handler for each name.',
    ],
    [
      'a handler with a number of retries, which has another name there',
      (steady) =>
        (createOutbox as Any)({ steady, handlers: { a: { mutationFn: () => 1, retries: 3 } } }),
      /^TypeError: createOutbox: handlers\.a: retries is 3.*did you mean maxAttempts\?\.$/,
    ],
    [
      'an outbox with a misspelt handler list',
      (steady) => (createOutbox as Any)({ steady, handler: {} }),
      /^TypeError: createOutbox: handler is {}.*did you mean handlers\?\.$/,
    ],
    [
      'a handler with an option of the policy beside it',
      (steady) =>
        (createOutbox as Any)({ steady, handlers: { a: { mutationFn: () => 1, timeout: 5 } } }),
      /^TypeError: createOutbox: handlers\.a: timeout is 5.*did you mean policy: \{ timeout \}\?\.$/,
    ],
  ])('%s', async (_name, call, message) => {
    const fault = await faultOf(call);
    const isRight = typeof message === 'string' ? fault === message : message.test(fault);
    expect({ fault, isRight }).toEqual({ fault, isRight: true });
  });

  test('the key of a status that is no key', () => {
    const rig = createRig();
    vi.spyOn(console, 'error').mockImplementation(() => {});
    function Status() {
      return (useRetryStatus as Any)(['products']) as null;
    }
    expect(() => rig.show(<Status />)).toThrow(
      'useRetryStatus: queryKey is undefined, and must be the key of a query: { queryKey: [...] }.',
    );
  });

  test.each(['retry', 'retries', 'timeoutMs', 'maxRetry', 'next'])(
    'another client may hand %s to steady.rawFetch',
    async (name) => {
      const rig = createRig();
      expect((await rig.steady.rawFetch('/a', { [name]: 3 })).status).toBe(200);
      expect(warnings).toEqual([]);
    },
  );

  test('a Request may be the init of another', async () => {
    const rig = createRig();
    const init = new Request('http://localhost:3000/b', { headers: { a: 'b' } });
    expect((await rig.steady.fetch('/a', init)).status).toBe(200);
  });

  test('in production a wrong name counts as not given', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const wrong = [
      (steady: AnySteady) => steady.json('/a', { maxRetries: 3 }),
      (steady: AnySteady) => (mutationOptions as Any)(steady, { mutationFn: () => 1, retry: 3 }),
      () => (createSteadfetch as Any)({ retries: 5, apis: [{ match: '/api/*', timeout: 5 }] }),
      () => (watchConnectivity as Any)({ url: '/ping' }),
      (steady: AnySteady) => steady.queryPolicy({ retryDelay: 3 }),
    ];
    for (const call of wrong) expect(await faultOf(call)).toBe('none');
  });
});

describe('the status of a query that there is not', () => {
  function Status({ queryKey }: { readonly queryKey: readonly unknown[] }) {
    return <p>{useRetryStatus({ queryKey }).status}</p>;
  }
  function Products({ rig }: { readonly rig: Rig }) {
    useQuery({ queryKey: ['products'], queryFn: () => rig.steady.json('/a') });
    return null;
  }

  test('is told of once after 10 s, with the nearest key', async () => {
    const rig = createRig();
    rig.show(
      <>
        <Status queryKey={['product']} />
        <Status queryKey={['product']} />
        <Products rig={rig} />
      </>,
    );
    await rig.time.advance(9999);
    expect(warnings).toEqual([]);
    await rig.time.advance(60_000);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^\[steadfetch\] useRetryStatus is given the key \["product"\], and no query of this QueryClient has it.*Did you mean \["products"\]\?.*docs\/retry\.md/,
      ),
    ]);
  });

  test('is not told of where the query comes later, or the status goes before', async () => {
    const rig = createRig();
    const { rerender } = rig.show(<Status queryKey={['products']} />);
    await rig.time.advance(5000);
    rerender(
      rig.wrap(
        <>
          <Status queryKey={['products']} />
          <Products rig={rig} />
        </>,
      ),
    );
    await rig.time.advance(5000);
    rerender(rig.wrap(<Status queryKey={['others']} />));
    await rig.time.advance(5000);
    rerender(rig.wrap(null));
    await rig.time.advance(60_000);
    expect(warnings).toEqual([]);
  });
});

describe('the status of a mutation that there is not', () => {
  const mutate = async (rig: Rig, mutationKey?: readonly unknown[]): Promise<void> => {
    const options = { mutationFn: async () => 1, ...(mutationKey && { mutationKey }) };
    const mutation = rig.client.getMutationCache().build(rig.client, options);
    await Promise.all([mutation.execute(undefined), rig.time.advance(0)]);
  };
  const watch = (rig: Rig, mutationKey: readonly unknown[]) => {
    function Status() {
      return <p>{useMutationStatus({ mutationKey }).status}</p>;
    }
    rig.show(<Status />);
  };
  const message = (key: string, cure: string): string =>
    `[steadfetch] useMutationStatus is given the key ${key}, and no mutation of this QueryClient has had it: ` +
    `it says idle. ${cure}. See node_modules/steadfetch/docs/mutations.md#what-the-user-sees.`;

  test.each([
    [['orders'], ['order']],
    [['order'], ['order', 5]],
    [['order', 5], ['order']],
    [['placeOrder'], ['place-order']],
  ])('%j is told of once, where %j is made', async (watched, made) => {
    const rig = createRig();
    watch(rig, watched);
    await mutate(rig, made);
    await mutate(rig, made);
    const [key, other] = [JSON.stringify(watched), JSON.stringify(made)];
    const cure = `Did you mean ${other}? It must be the whole mutationKey`;
    expect(warnings).toEqual([message(key, cure)]);
  });

  test('is told of once, from the second mutation without a key on', async () => {
    const rig = createRig();
    watch(rig, ['order']);
    await mutate(rig);
    expect(warnings).toEqual([]);
    await mutate(rig);
    await mutate(rig);
    const cure =
      '2 mutations without a mutationKey have been made: give it to the one that is meant';
    expect(warnings).toEqual([message('["order"]', cure)]);
  });

  test.each([
    ['other forms have theirs', [['login'], ['login'], ['upload', 1]]],
    [
      'rows of a list have theirs',
      [
        ['order', 2],
        ['order', 3],
      ],
    ],
    ['it has been there, and is forgotten', [['order', 1], ['order'], undefined, undefined]],
  ])('is not told of where %s', async (_, keys) => {
    const rig = createRig();
    watch(rig, ['order', 1]);
    for (const key of keys) {
      await mutate(rig, key);
      await rig.time.advance(3_600_000);
    }
    expect(warnings).toEqual([]);
  });

  test('is not told of where useSteadyMutation names it', async () => {
    const rig = createRig();
    const definition = mutationOptions(rig.steady, { mutationFn: async () => 1 });
    function Order() {
      const { mutate: submit, target } = useSteadyMutation(definition);
      const other = useMutationStatus({ mutationKey: ['other'] });
      return (
        <button onClick={() => submit(undefined)}>
          {useMutationStatus(target).status}
          {other.status}
        </button>
      );
    }
    rig.show(<Order />);
    for (let press = 0; press < 3; press++) {
      act(() => screen.getByRole('button').click());
      await rig.time.advance(0);
    }
    expect(warnings).toEqual([]);
  });
});

describe('a POST that nothing says may be done twice', () => {
  async function post(rig: Rig, init: object = {}): Promise<void> {
    rig.server.plan('/a', 503, 503);
    function Order() {
      const { mutate, status } = useMutation({
        mutationFn: () => rig.steady.json('/a?token=x', { method: 'POST', ...init }),
      });
      return <button onClick={() => mutate()}>{status}</button>;
    }
    rig.server.plan('/a?token=x', 503);
    rig.show(<Order />);
    act(() => screen.getByRole('button').click());
    await rig.time.advance(100_000);
  }

  test('in a plain mutation is told of once, with both remedies', async () => {
    const rig = createRig();
    await post(rig);
    expect(rig.server.sent).toHaveLength(1);
    expect(warnings).toEqual([
      expect.stringMatching(
        /^\[steadfetch\] POST \/a has failed and is not sent again: it may have been done.*idempotency: profiles\.draft.*mutationOptions.*idempotent: true.*docs\/mutations\.md/,
      ),
    ]);
  });

  test('in a query is sent again: a queryFn reads', async () => {
    const rig = createRig();
    rig.server.plan('/search', 503);
    const queryFn = () => rig.steady.json('/search', { method: 'POST' });
    const asked = rig.client.fetchQuery({ queryKey: ['it'], queryFn }).catch(() => {});
    await Promise.all([asked, rig.time.advance(10_000)]);
    expect(rig.server.sent).toHaveLength(2);
    expect(warnings).toEqual([]);
  });

  test.each(['POST', 'PUT', 'DELETE'])(
    'by plain fetch is not told of as one, for it may be a %s',
    async (method) => {
      const rig = createRig();
      function Order() {
        const { mutate, status } = useMutation({
          async mutationFn() {
            await Promise.resolve();
            throw new Error(`${method} failed`);
          },
        });
        return <button onClick={() => mutate()}>{status}</button>;
      }
      rig.show(<Order />);
      act(() => screen.getByRole('button').click());
      await rig.time.advance(1000);
      expect(warnings).toEqual([
        expect.stringMatching(/^\[steadfetch\] A mutation has failed and/),
      ]);
    },
  );

  test.each<[string, object]>([
    ['in number', { retry: 2 }],
    ['by its own function', { retry: (count: number) => count < 2 }],
    ['with its own wait', { retry: 2, retryDelay: 10 }],
  ])('that the app retries itself, %s, is not told of: it is sent again', async (_, own) => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    const mutationFn = () => rig.steady.json('/a', { method: 'POST' });
    const made = rig.client
      .getMutationCache()
      .build(rig.client, rig.client.defaultMutationOptions({ mutationFn, ...own }));
    await Promise.all([made.execute(undefined), rig.time.advance(10_000)]);
    expect(rig.server.sent).toHaveLength(2);
    expect(warnings).toEqual([]);
  });

  test.each(['GET', 'PUT', 'DELETE'])(
    'is not taken for the %s after it, which has failed',
    async (method) => {
      const rig = createRig();
      rig.server.plan('/b', 503);
      const mutationFn = async () => {
        await rig.steady.json('/a', { method: 'POST' });
        return rig.steady.json('/b', { method });
      };
      const options = rig.client.defaultMutationOptions({ mutationFn });
      const made = rig.client.getMutationCache().build(rig.client, options);
      await Promise.all([made.execute(undefined).catch(() => {}), rig.time.advance(10_000)]);
      expect(rig.server.sent).toHaveLength(2);
      expect(warnings).toEqual([
        expect.stringMatching(/^\[steadfetch\] A mutation has failed and is not sent again/),
      ]);
    },
  );

  test('is not told of where the API is declared to take no keys', async () => {
    const rig = createRig({ apis: [{ match: /./, idempotency: 'none' }] });
    await post(rig);
    expect(rig.server.sent).toHaveLength(1);
    const request = rig.steady.fetch('/a', { method: 'POST', idempotencyKey: 'a' });
    await Promise.all([request.catch(() => {}), rig.time.advance(1000)]);
    expect(warnings).toEqual([]);
  });

  test('is not told of where that is declared', async () => {
    const rig = createRig();
    await post(rig, { idempotent: true });
    expect(rig.server.sent).toHaveLength(2);
    expect(warnings).toEqual([]);
  });
});

describe('instances that are made in a render', () => {
  const makeIn = (rig: Rig, times: number, dispose: boolean, config = {}): void => {
    const all: Steadfetch[] = [];
    function App() {
      const steady = createSteadfetch(config);
      all.push(steady);
      if (dispose) steady.dispose();
      return null;
    }
    const { rerender } = rig.show(<App />);
    for (let count = 1; count < times; count++) rerender(rig.wrap(<App />));
    for (const steady of all) steady.dispose();
  };

  test.each([
    ['alone', {}],
    ['that only watches', { observe: observeOnly() }],
  ])('are not told of where there are three, each %s', (_name, config) => {
    makeIn(createRig(), 3, false, config);
    expect(warnings).toEqual([]);
  });

  test('are told of once, from the fourth on', () => {
    const rig = createRig();
    makeIn(rig, 10, false);
    expect(warnings).toEqual([
      expect.stringMatching(
        /createSteadfetch has been called by renders 4 times within 10 s.*call it once, in a module/,
      ),
    ]);
  });

  test('are not what tests make, one each, outside of renders', () => {
    const all = Array.from({ length: 10 }, () => createSteadfetch());
    for (const steady of all) steady.dispose();
    expect(warnings).toEqual([]);
  });

  test('are not told of where each is disposed of', () => {
    const rig = createRig();
    makeIn(rig, 10, true);
    expect(warnings).toEqual([]);
  });
});
