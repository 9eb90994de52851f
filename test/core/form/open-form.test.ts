import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, mutationOptions } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { forgetForms, openForm } from '../../../src/core/form/form.ts';
import { instanceOf } from '../../../src/core/react-query/instance.ts';
import { noOrigin } from '../../setup/no-origin.ts';

beforeEach(() => sessionStorage.clear());

function createPage() {
  const steady = createSteadfetch({ ...noOrigin, fetch: async () => new Response('{}') });
  return { steady, client: new QueryClient({ defaultOptions: steady.defaultOptions }) };
}
const createClient = (): QueryClient => createPage().client;

test('a form of one name is one form, until the forms of its client are forgotten', () => {
  const [client, other] = [createClient(), createClient()];
  const formOf = (...of: Parameters<typeof openForm>): unknown => openForm(...of).getState().reset;
  const form = formOf(client, 'checkout');
  expect(formOf(client, 'checkout')).toBe(form);
  expect(formOf(client, 'address')).not.toBe(form);
  expect(formOf(other, 'checkout')).not.toBe(form);
  expect(formOf(client, 'checkout')).toBe(form);
  forgetForms(client);
  expect(formOf(client, 'checkout')).not.toBe(form);
});

test.each(['', 7, undefined])('%j is no name', (name) => {
  expect(() => openForm(createClient(), name as string)).toThrow(
    /^useSafeSubmit: form is .*, and must be a name\.$/,
  );
});

test('a client without an instance is an Error, unless the mutation has one, and is warned about', () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const missing = /^useSafeSubmit: this QueryClient /;
  expect(() => openForm(new QueryClient(), 'checkout')).toThrow(missing);
  warn.mockClear();
  const other = instanceOf(createClient(), 'test');
  expect(openForm(new QueryClient(), 'checkout', other).getState().status).toBe('idle');
  expect(warn.mock.calls).toEqual([
    [expect.stringMatching(/^\[steadfetch\] useSafeSubmit: this QueryClient /)],
  ]);
  warn.mockRestore();
});

test('a mutationFn that is not ours is a TypeError', () => {
  const form = openForm<number, Error, void, unknown>(createClient(), 'checkout');
  const mutation = { mutationFn: async () => 1 };
  expect(() => form.setOptions({ form: 'checkout', mutation })).toThrow(
    'useSafeSubmit: mutationFn is a function, and must be that of mutationOptions.',
  );
});

test('one that is not mounted begins anew where it is opened again, and a mounted one goes on', async () => {
  const { steady, client } = createPage();
  const form = openForm<unknown, Error, object, unknown>(client, 'checkout');
  const mutation = mutationOptions(steady, {
    mutationFn: (json: object, context) => context.json('/orders', { json }),
  });
  form.setOptions({ form: 'checkout', mutation });
  const press = async (): Promise<void> => {
    await form.getState().submit({ sku: 1 });
    await vi.waitFor(() => expect(form.getState().status).toBe('success'));
  };
  const unmount = form.subscribe(() => {});
  await press();
  openForm(client, 'checkout');
  expect(form.getState().status).toBe('success');
  unmount();
  openForm(client, 'checkout');
  expect(form.getState().status).toBe('idle');
});
