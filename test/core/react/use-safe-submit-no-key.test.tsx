import { mutationOptions, outcomeOf, type SteadyMutationContext } from 'steadfetch';
import { cleanup } from '@testing-library/react';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { mutationIdOf, mutationStatusesOf } from '../../../src/core/react-query/status/mutation.ts';
import { createFormRig, type FormRig, kite } from './form-rig.tsx';

const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
beforeEach(() => void warn.mockClear());

const token = async (): Promise<void> => new Promise((resolve) => void setTimeout(resolve, 200));

type Send = (rig: FormRig, context: SteadyMutationContext) => Promise<unknown>;
const json = { sku: 'kite' };
const ways: Readonly<Record<string, Send>> = {
  "the instance's json": ({ steady }) => steady.json('/orders', { json }),
  'another client': ({ book }) =>
    book.fetch('/orders', { method: 'POST', body: JSON.stringify(json) }),
  "the instance's json after a request of its own": async ({ steady }, context) => {
    await context.json('/orders/reserve', { json });
    return steady.json('/orders', { json });
  },
};

function open(rig: FormRig, send: Send) {
  const placeOrder = mutationOptions(rig.steady, {
    async mutationFn(_: object, context) {
      await token();
      return send(rig, context);
    },
    policy: { maxRetries: 0 },
  });
  const form = rig.createForm({}, placeOrder);
  rig.show(<form.Form />);
  return form;
}

const press = async (rig: FormRig, form: ReturnType<typeof open>) => {
  const result = form.press();
  await rig.time.advance(1000);
  return result;
};
const warnings = (): string[] => warn.mock.calls.map(([text]) => String(text));

describe.each(Object.entries(ways))(
  'a mutationFn that awaits a token and then uses %s',
  (name, send) => {
    const isSecond = name.endsWith('own');
    const plan = (rig: FormRig): void =>
      rig.book.plan(
        ...(isSecond ? (['done', 'lost answer'] as const) : (['lost answer'] as const)),
      );

    test('books once: after an unknown outcome the same press asks first, also after a reload', async () => {
      const rig = createFormRig();
      plan(rig);
      const form = open(rig, send);
      expect(await press(rig, form)).toMatchObject({ status: 'unknown' });
      const booked = rig.book.orders.length;
      const asked = { status: 'needs-confirmation', reason: 'no-key', variables: kite };
      expect(await press(rig, form)).toMatchObject(asked);
      rig.end();
      cleanup();
      const next = createFormRig({ book: rig.book, isReload: true });
      expect(await press(next, open(next, send))).toMatchObject(asked);
      expect(rig.book.orders).toHaveLength(booked);
    });

    test('is warned about in development, with the remedy', async () => {
      const rig = createFormRig();
      expect(await press(rig, open(rig, send))).toMatchObject({ status: 'succeeded' });
      expect(warnings().join('\n')).toMatch(/context/);
      rig.end();
      vi.stubEnv('NODE_ENV', 'production');
      warn.mockClear();
      const quiet = createFormRig();
      await press(quiet, open(quiet, send));
      expect(warnings()).toEqual([]);
      vi.unstubAllEnvs();
    });
  },
);

test('an unknown outcome without a key is warned about, too', async () => {
  const rig = createFormRig();
  rig.book.plan('lost answer');
  expect(await press(rig, open(rig, ways['another client'] as Send))).toMatchObject({
    status: 'unknown',
  });
  expect(warnings()).toEqual([
    expect.stringMatching(
      /no request of this submission .*\/mutations\.md#what-the-mutationfn-gets/,
    ),
  ]);
});

test('the page that is left before the key has gone asks first', async () => {
  const rig = createFormRig();
  void open(rig, ways['another client'] as Send).press();
  await rig.time.advance(100);
  rig.end();
  cleanup();
  const next = createFormRig({ book: rig.book, isReload: true });
  const form = open(next, ways['another client'] as Send);
  expect(await press(next, form)).toMatchObject({ reason: 'no-key' });
});

test.each<[string, Send]>([
  ["the context's json", (_, context) => context.json('/orders', { json })],
  [
    'another client, with the key of the context',
    ({ book }, { takeKey }) =>
      book.fetch('/orders', {
        method: 'POST',
        body: JSON.stringify(json),
        headers: { 'idempotency-key': takeKey() },
      }),
  ],
  ['a PUT of the context', (_, { fetch }) => fetch('/orders/1', { method: 'PUT', body: 'kite' })],
])('after %s the same press goes at once, and nobody is warned', async (_, send) => {
  const rig = createFormRig();
  let isFirst = true;
  const form = open(rig, async (...given) => {
    await send(...given);
    const isLost = isFirst;
    isFirst = false;
    if (isLost) throw new TypeError('Failed to fetch');
  });
  expect(await press(rig, form)).toMatchObject({ status: 'unknown' });
  expect(await press(rig, form)).toMatchObject({ status: 'succeeded' });
  expect(new Set(rig.book.keys).size).toBeLessThan(2);
  expect(warnings()).toEqual([]);
});

describe('a 422 to another client, which was given the key of the context, after an answer was lost', () => {
  const ofAxios = (headers: Record<string, string>): unknown => ({
    response: { status: 422, headers },
  });
  const ofKy = (headers: Record<string, string>) => ({
    response: new Response(null, { status: 422, headers }),
  });
  const stored = { 'idempotent-replayed': 'true' };
  /** The first press loses its answer, and the second one is refused like this. */
  const pressTwice = async (refusal: unknown) => {
    const rig = createFormRig();
    let count = 0;
    const form = open(rig, async (_, context) => {
      count += 1;
      if (!context.takeKey()) throw new Error('There is no key.');
      if (count === 1) throw new TypeError('Failed to fetch');
      throw refusal;
    });
    expect(await press(rig, form)).toMatchObject({ status: 'unknown' });
    return press(rig, form);
  };

  test.each<[string, unknown]>([
    ['axios', ofAxios(stored)],
    ['ky', ofKy(stored)],
    ['fetch, which throws the Response', ofKy(stored).response],
  ])('is a sure refusal where its server has stored it: %s', async (_, refusal) => {
    expect(await pressTwice(refusal)).toMatchObject({ status: 'failed' });
    expect(outcomeOf(refusal)).toMatchObject({ status: 422, processed: 'no' });
  });

  test.each<[string, unknown]>([
    ['axios', ofAxios({})],
    ['ky', ofKy({})],
  ])('proves nothing where it is not stored: %s', async (_, refusal) => {
    expect(await pressTwice(refusal)).toMatchObject({ status: 'unknown' });
    expect(outcomeOf(refusal)).toMatchObject({ status: 422, processed: 'unknown' });
  });

  test.each([
    ['is a sure refusal also of an attempt before in the same press', true, 'failed'],
    ['proves nothing where it has not asked for the key of the context', false, 'unknown'],
  ])('%s', async (_what, isKeyed, status) => {
    const rig = createFormRig();
    const busy: unknown = { response: { status: 503, headers: { 'retry-after': '1' } } };
    let count = 0;
    const placeOrder = mutationOptions(rig.steady, {
      async mutationFn(_: object, context) {
        count += 1;
        if (isKeyed && !context.takeKey()) throw new Error('There is no key.');
        throw [busy, ofAxios(stored)][count - 1];
      },
      policy: { shouldRetry: (failure) => failure.kind === 'http' && failure.status === 503 },
    });
    const form = rig.createForm({}, placeOrder);
    rig.show(<form.Form />);
    const result = form.press();
    await rig.time.advance(5000);
    expect(await result).toMatchObject({ status });
    expect(count).toBe(2);
  });
});

describe('a request of the instance that has nothing to do with the form', () => {
  test('changes nothing while a request of the form is under way', async () => {
    const rig = createFormRig();
    rig.book.plan('slow', 'done');
    const form = rig.createForm();
    rig.show(<form.Form />);
    const first = form.press();
    await rig.time.advance(100);
    await rig.steady.json('/orders/log', { json });
    rig.book.answer();
    await rig.time.advance(2000);
    expect(await first).toMatchObject({ status: 'succeeded' });
    expect(warnings()).toEqual([]);
  });

  test.each([
    ['reads', { method: 'GET' }],
    ['is declared to be idempotent', { json, idempotent: true }],
    ['brings a key', { json, idempotencyKey: 'k' }],
  ])('changes nothing where it %s', async (_, init) => {
    const rig = createFormRig();
    const form = open(rig, (_rig, context) => context.json('/orders', { json }));
    const result = form.press();
    await rig.time.settle();
    await rig.steady.json('/orders/log', init);
    await rig.time.advance(1000);
    expect(await result).toMatchObject({ status: 'succeeded' });
    expect(warnings()).toEqual([]);
  });
});

describe('what was sent after the user was asked, and is refused', () => {
  const later = { sku: 'dragon' };

  test('is unknown where it is the same as what may have been done, and it is asked once more', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer', 403);
    const form = open(rig, ways["the instance's json"] as Send);
    await press(rig, form);
    const first = form.last().unknown?.idempotencyKey;
    const asked = await press(rig, form);
    if (asked.status !== 'needs-confirmation') throw new Error(asked.status);
    const confirmed = asked.confirm();
    await rig.time.advance(1000);
    expect(await confirmed).toMatchObject({ status: 'unknown' });
    expect(form.last().unknown).toMatchObject({ idempotencyKey: first, variables: kite });
    const statuses = mutationStatusesOf(rig.client, 'test');
    expect(statuses.getState(mutationIdOf(form.last().target)).status).toBe('unknown');
    expect(await press(rig, form)).toMatchObject({ reason: 'no-key' });
    expect(rig.book.orders).toHaveLength(1);
  });

  test('has failed where it is another, and what may have been done is known again, with its key', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer', 403);
    const form = rig.createForm();
    rig.show(<form.Form />);
    const pressed = async (payload: object): ReturnType<typeof press> => {
      const result = form.press({ ...payload });
      await rig.time.advance(1000);
      return result;
    };
    expect(await pressed(kite)).toMatchObject({ status: 'unknown' });
    const asked = await pressed(later);
    if (asked.status !== 'needs-confirmation') throw new Error(asked.status);
    const confirmed = asked.confirm();
    await rig.time.advance(1000);
    expect(await confirmed).toMatchObject({ status: 'failed' });
    expect(form.last().unknown).toMatchObject({ idempotencyKey: rig.book.keys[0] });
    expect(await pressed(kite)).toMatchObject({ status: 'succeeded' });
    expect(rig.book.orders).toHaveLength(1);
    expect(form.last().unknown).toBeUndefined();
  });
});

test.each(['another attempt', 'another press'])(
  'what has gone with its key is not sent without it by %s, and the outcome stays unknown',
  async (way) => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    let runs = 0;
    const placeOrder = mutationOptions(rig.steady, {
      // A token that has expired is awaited, and what is sent after that is not known to be its own.
      async mutationFn(order: object) {
        if (runs++ > 0) await token();
        return rig.steady.json('/orders', { json: order });
      },
      policy: { maxRetries: way === 'another attempt' ? 1 : 0 },
    });
    const form = rig.createForm({}, placeOrder);
    rig.show(<form.Form />);
    const first = form.press();
    await rig.time.advance(5000);
    expect(await first).toMatchObject({ status: 'unknown' });
    const last = way === 'another press' ? form.press() : first;
    await rig.time.advance(5000);
    expect(await last).toMatchObject({ status: 'unknown' });
    expect(runs).toBe(2);
    expect(rig.book.keys).toHaveLength(1);
    expect(form.last().unknown).toBeDefined();
  },
);
