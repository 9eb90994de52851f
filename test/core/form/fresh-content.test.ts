import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, defineIdempotency, mutationOptions, profiles } from 'steadfetch';
import { virtualTime } from 'steadfetch/testing';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { openForm } from '../../../src/core/form/form.ts';
import { noOrigin } from '../../setup/no-origin.ts';

const time = virtualTime(vi);
beforeEach(() => sessionStorage.clear());
afterAll(() => time.restore());

interface Order {
  readonly sku: string;
  readonly captcha: string;
}

function open(lifetimeMs: number) {
  const sent: (readonly [key: string | null, body: unknown])[] = [];
  let isLost = true;
  const idempotency = defineIdempotency({ ...profiles.stripe, lifetimeMs, fresh: ['captcha'] });
  const steady = createSteadfetch({
    ...noOrigin,
    clock: time.clock,
    apis: [{ match: 'http://localhost:3000/', idempotency }],
    async fetch(_, init) {
      sent.push([
        new Headers(init?.headers).get('idempotency-key'),
        JSON.parse(init?.body as string),
      ]);
      if (isLost) throw new TypeError('Failed to fetch');
      return Response.json(1);
    },
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const form = openForm<unknown, Error, Order, unknown>(client, 'checkout');
  form.setOptions({
    form: 'checkout',
    mutation: mutationOptions(steady, {
      mutationFn: (order: Order, { json }) => json('/orders', { method: 'POST', json: order }),
      policy: { maxRetries: 0 },
    }),
  });
  const press = async (captcha: string): Promise<string> => {
    const pressed = form.getState().submit({ sku: 'kite', captcha });
    await time.advance(1000);
    return (await pressed).status;
  };
  return { form, press, sent, mend: () => (isLost = false) };
}

test('content with another token that works once is the same content, and goes under the same key with that token', async () => {
  const { press, sent, mend } = open(60_000);
  expect(await press('one')).toBe('unknown');
  mend();
  expect(await press('two')).toBe('succeeded');
  const [first] = sent;
  expect(sent).toEqual([
    [first?.[0], { sku: 'kite', captcha: 'one' }],
    [first?.[0], { sku: 'kite', captcha: 'two' }],
  ]);
});

test('a form that is shown says so once its key has expired', async () => {
  const { form, press } = open(60_000);
  await press('one');
  const shown: (boolean | undefined)[] = [];
  const stop = form.subscribe(() => shown.push(form.getState().unknown?.isExpired));
  await time.advance(58_000);
  expect(shown).toEqual([]);
  await time.advance(2000);
  expect(shown).toEqual([true]);
  stop();
});

test.each([1, 2])(
  'a press that meets an error of the browser (at call %i for a key) does not leave the form busy',
  async (fails) => {
    const { form, press, mend } = open(60_000);
    mend();
    const randomUUID = crypto.randomUUID.bind(crypto);
    let calls = 0;
    const spy = vi.spyOn(crypto, 'randomUUID').mockImplementation(() => {
      if (++calls === fails) throw new Error('no entropy');
      return randomUUID();
    });
    expect(await press('one')).toBe('failed');
    spy.mockRestore();
    expect([form.getState().isPending, await press('two')]).toEqual([false, 'succeeded']);
  },
);
