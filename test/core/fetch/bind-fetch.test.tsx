import { inspect } from 'node:util';
import { mutationOptions, outcomeOf, type SteadyMutationContext } from 'steadfetch';
import type { OutboxContext } from 'steadfetch/outbox';
import { describe, expect, test, vi } from 'vitest';
import { createBrowser, settle } from '../../outbox/rig.ts';
import { createFormRig } from '../react/form-rig.tsx';

vi.spyOn(console, 'warn').mockReturnValue();
vi.spyOn(console, 'log').mockReturnValue();

type Context = SteadyMutationContext | OutboxContext;

/** Ways to look at a context. None of them sends the key. */
const readings: Readonly<Record<string, (context: Context) => unknown>> = {
  'spreads it': (context) => ({ ...context }),
  'takes its rest': ({ signal, ...rest }) => [signal, rest],
  'takes all of it apart': ({ idempotencyKey, takeKey, fetch, json, rawFetch, attempt }) => [
    idempotencyKey,
    takeKey,
    fetch,
    json,
    rawFetch,
    attempt,
  ],
  'writes it as JSON': (context) => JSON.stringify(context),
  'logs it': (context) => console.log(context),
  'inspects it, getters too': (context) => inspect(context, { getters: true, depth: 5 }),
  'lists its keys': (context) => Object.keys(context),
  'lists its values': (context) => Object.entries(context),
  'lists its descriptors': (context) => Object.getOwnPropertyDescriptors(context),
  'assigns it': (context) => Object.assign({}, context),
  'clones it': (context) => {
    // Its functions cannot be.
    expect(() => structuredClone(context)).toThrow(/could not be cloned/);
    return structuredClone({ key: context.idempotencyKey });
  },
  'walks it, as devtools do': (context) => {
    for (const name in context) void Reflect.get(context, name);
  },
};

const answers = [
  { status: 503, headers: { 'retry-after': '1' } },
  { status: 422, headers: { 'idempotent-replayed': 'true' } },
];
const policy = {
  shouldRetry: (failure: { kind: string; status?: number }) => failure.status === 503,
};

/** Another client, which sends past Steadfetch: it is answered 503, and then with a refusal that is stored under a key. */
function createClient(act: (context: Context) => unknown) {
  let requests = 0;
  return {
    requests: () => requests,
    async mutationFn(_: object, context: Context): Promise<never> {
      await Promise.resolve();
      act(context);
      requests += 1;
      throw { response: answers[requests - 1] } as unknown;
    },
  };
}

/** What an owner of a mutationFn is told of the two attempts. */
const owners: Readonly<
  Record<string, (client: ReturnType<typeof createClient>) => Promise<string>>
> = {
  async mutationOptions({ mutationFn }) {
    const rig = createFormRig();
    const options = mutationOptions(rig.steady, { mutationFn, policy });
    const mutation = rig.client.getMutationCache().build(rig.client, options);
    mutation.execute({}).catch(() => {});
    await rig.time.advance(5000);
    return outcomeOf(mutation.state.error).processed;
  },
  async useSafeSubmit({ mutationFn }) {
    const rig = createFormRig();
    const form = rig.createForm({}, mutationOptions(rig.steady, { mutationFn, policy }));
    rig.show(<form.Form />);
    const press = form.press();
    await rig.time.advance(5000);
    const { status } = await press;
    return status === 'failed' ? 'no' : status;
  },
  async outbox({ mutationFn }) {
    const { openTab, pass } = createBrowser();
    const { outbox } = openTab({ handlers: { order: { mutationFn, policy } } });
    outbox.submit('order', {}).delivered.catch(() => {});
    await settle();
    await pass(10_000);
    const [entry] = await outbox.list();
    return entry?.processed ?? 'none';
  },
};

describe.each(Object.entries(owners))(
  'another client in the mutationFn of %s, and a refusal that is stored under a key',
  (_, settleBy) => {
    test.each(Object.entries(readings))(
      'a mutationFn that %s has not sent the key: the refusal is not about it',
      async (_way, read) => {
        const client = createClient(read);
        expect(await settleBy(client)).toBe('unknown');
        expect(client.requests()).toBe(2);
      },
    );

    test('a mutationFn that takes the key for its client has: nothing was done', async () => {
      const client = createClient(({ idempotencyKey, takeKey }) =>
        expect(takeKey()).toBe(idempotencyKey),
      );
      expect(await settleBy(client)).toBe('no');
      expect(client.requests()).toBe(2);
    });
  },
);

describe('a form whose order went past Steadfetch, and whose answer was lost', () => {
  /** Presses twice. @returns how the second press ends, and how many orders were booked. */
  async function pressTwice(
    send: (book: Book, context: SteadyMutationContext) => Promise<unknown>,
  ) {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    const form = rig.createForm(
      {},
      mutationOptions(rig.steady, {
        async mutationFn(_: object, context) {
          await Promise.resolve();
          return send({ ...rig.book, steady: rig.steady }, context);
        },
        policy: { maxRetries: 0 },
      }),
    );
    rig.show(<form.Form />);
    for (let press = 0; ; press += 1) {
      const pressed = form.press();
      await rig.time.advance(1000);
      const { status } = await pressed;
      if (press === 1) return { status, orders: rig.book.orders.length };
    }
  }
  type Book = ReturnType<typeof createFormRig>['book'] &
    Pick<ReturnType<typeof createFormRig>, 'steady'>;
  const json = { sku: 'kite' };
  const order = { method: 'POST', body: JSON.stringify(json) };

  test.each(Object.entries(readings))(
    'asks before it sends it again without its key, where the mutationFn %s',
    async (_, read) => {
      const ended = await pressTwice((book, context) => {
        read(context);
        return book.fetch('/orders', order);
      });
      expect(ended).toEqual({ status: 'needs-confirmation', orders: 1 });
    },
  );

  test('sends it again by itself under the key that its client takes', async () => {
    const ended = await pressTwice((book, { takeKey }) =>
      book.fetch('/orders', { ...order, headers: { 'idempotency-key': takeKey() } }),
    );
    expect(ended).toEqual({ status: 'succeeded', orders: 1 });
  });

  test.each([
    ["the context's fetch", '/orders', (_: Book, context: SteadyMutationContext) => context.fetch],
    ['fetch of the instance, after an await', '/orders', ({ steady }: Book) => steady.fetch],
    [
      "the context's fetch, at an API that is not declared",
      '/undeclared/orders',
      (_: Book, context: SteadyMutationContext) => context.fetch,
    ],
  ])('sends it again by itself where its plain key is seen to go: by %s', async (_, url, by) => {
    const ended = await pressTwice((book, context) =>
      by(book, context)(url, {
        ...order,
        headers: { 'Idempotency-Key': `"${context.idempotencyKey}"` },
      }),
    );
    expect(ended).toEqual({ status: 'succeeded', orders: 1 });
  });
});
