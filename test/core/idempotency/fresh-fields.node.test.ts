import { type ApiProfile, defineIdempotency, profiles } from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { answer, fakeServer, origin, refuse } from '../fetch/fake-server.ts';
import { fakeTime } from '../fetch/observe.ts';
import { createSubmitter } from '../fetch/submit.ts';

beforeEach(() => {
  fakeTime();
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => void vi.restoreAllMocks());

const form = (...entries: readonly [string, string | File][]): FormData => {
  const data = new FormData();
  for (const [name, value] of entries) data.append(name, value);
  return data;
};

function open(fresh: readonly string[], profile: object = profiles.draft) {
  const idempotency = defineIdempotency({ ...(profile as typeof profiles.draft), fresh });
  const api: ApiProfile = { match: origin, idempotency };
  const server = fakeServer(refuse, answer(201));
  return { server, ...createSubmitter(server.fetch, [api]) };
}

type Make = (token: string, attempt: number) => BodyInit;
const bodies: Readonly<Record<string, { readonly fresh: string; readonly make: Make }>> = {
  'the last member of a JSON object': {
    fresh: 'captcha',
    make: (captcha) => JSON.stringify({ sku: 'kite', captcha }),
  },
  'the first, with spaces': {
    fresh: 'captcha',
    make: (captcha) => JSON.stringify({ captcha, sku: 'kite' }, null, 2),
  },
  'the only one': { fresh: 'captcha', make: (captcha) => JSON.stringify({ captcha }) },
  'one beside its namesakes in depth': {
    fresh: 'captcha',
    make: (captcha) =>
      `{"a":{"captcha":"no"},"b":["captcha",{"captcha":"no"}],"n":12345678901234567890,"captcha":${JSON.stringify(captcha)}}`,
  },
  'one in depth, for GraphQL': {
    fresh: 'variables.captcha',
    make: (captcha) => JSON.stringify({ query: 'mutation', variables: { captcha, sku: 'kite' } }),
  },
  'a field of URLSearchParams': {
    fresh: 'captcha',
    make: (captcha) => new URLSearchParams({ captcha, sku: 'kite' }),
  },
  'a field of a FormData with a file': {
    fresh: 'captcha',
    make: (captcha) => form(['captcha', captcha], ['file', new File(['x'], 'a.txt')]),
  },
};

/** Of a form, its fields in the order of their names; else the text. */
const read = async (request: Request): Promise<unknown> => {
  const type = request.headers.get('content-type') ?? '';
  if (!type.includes('form')) return request.text();
  const entries = [...(await request.formData())].map(async ([name, value]) => [
    name,
    typeof value === 'string' ? value : await value.text(),
  ]);
  return (await Promise.all(entries)).toSorted(([one = ''], [other = '']) =>
    one.localeCompare(other),
  );
};

describe.each(Object.entries(bodies))('%s', (_, { fresh, make }) => {
  test('is what is given now, and all else is what was sent first, under one key', async () => {
    const { server, submit } = open([fresh]);
    const token = (attempt: number): string => `"token" {${attempt}`;
    const { value } = await submit((fetch, attempt) =>
      fetch(origin, { method: 'POST', body: make(token(attempt), attempt) }),
    );
    expect(value).toMatchObject({ status: 201 });
    const [first, second] = server.requests as [Request, Request];
    expect(second.headers.get('idempotency-key')).toBe(first.headers.get('idempotency-key'));
    const expected = (attempt: number): Promise<unknown> =>
      read(new Request(origin, { method: 'POST', body: make(token(attempt), attempt) }));
    expect(await read(first)).toEqual(await expected(1));
    expect(await read(second)).toEqual(await expected(2));
  });
});

test('of other changes the first bytes are sent, with the new token', async () => {
  const { server, submit } = open(['captcha']);
  await submit((fetch, attempt) =>
    fetch(origin, {
      method: 'POST',
      body: JSON.stringify({ captcha: `t${attempt}`, at: attempt, id: 2 }),
    }),
  );
  expect(await Promise.all(server.requests.map((one) => one.text()))).toEqual([
    '{"captcha":"t1","at":1,"id":2}',
    '{"captcha":"t2","at":1,"id":2}',
  ]);
});

test.each<[string, (text: string) => BodyInit]>([
  ['a FormData', (size) => form(['captcha', size], ['size', size])],
  ['URLSearchParams', (size) => new URLSearchParams({ captcha: size, size })],
])('of other changes of %s the first fields are sent, with the new token', async (_, make) => {
  const { server, submit } = open(['captcha']);
  await submit((fetch, attempt) => fetch(origin, { method: 'POST', body: make(`${attempt}`) }));
  expect(await Promise.all(server.requests.map(read))).toEqual([
    [
      ['captcha', '1'],
      ['size', '1'],
    ],
    [
      ['captcha', '2'],
      ['size', '1'],
    ],
  ]);
});

test.each<[string, () => BodyInit | null, string]>([
  ['JSON', () => '{"sku": "kite"}', '{"sku": "kite"}'],
  ['text', () => 'captcha', 'captcha'],
  ['a Blob', () => new Blob(['{}']), '{}'],
  ['nothing', () => null, ''],
])('a body without the field is sent as it is: %s', async (_, make, text) => {
  const { server, submit } = open(['captcha']);
  const { error } = await submit((fetch) => fetch(origin, { method: 'POST', body: make() }));
  expect(error).toBeUndefined();
  expect(await Promise.all(server.requests.map((one) => one.text()))).toEqual([text, text]);
});

test('without the field, of other changes the first bytes are sent, too', async () => {
  const { server, submit } = open(['captcha']);
  await submit((fetch, attempt) => fetch(origin, { method: 'POST', body: `{"at":${attempt}}` }));
  expect(await Promise.all(server.requests.map((one) => one.text()))).toEqual([
    '{"at":1}',
    '{"at":1}',
  ]);
});

test('where the body had another form first, that is sent again', async () => {
  const { server, submit } = open(['captcha']);
  await submit((fetch, attempt) =>
    fetch(origin, {
      method: 'POST',
      body: attempt === 1 ? new Blob(['first']) : new URLSearchParams({ captcha: 'x' }),
    }),
  );
  expect(await Promise.all(server.requests.map((one) => one.text()))).toEqual(['first', 'first']);
});

test('a file in a field that is given anew is named, too, where it can no longer be read', async () => {
  class Gone extends File {
    override slice(): Blob {
      throw new DOMException('It is gone.', 'NotReadableError');
    }
  }
  const { submit } = open(['captcha']);
  const { error } = await submit((fetch) =>
    fetch(origin, {
      method: 'POST',
      body: form(['captcha', new Gone(['x'], 'drawn.png')], ['size', 'M']),
    }),
  );
  expect(error).toHaveProperty(
    'message',
    'The file "drawn.png" was changed, moved or removed. Select it again.',
  );
});

test('beside a key in the body', async () => {
  const { server, submit } = open(['captcha'], profiles.square);
  await submit((fetch, attempt) =>
    fetch(origin, { method: 'POST', body: JSON.stringify({ sku: 1, captcha: `t${attempt}` }) }),
  );
  const sent = await Promise.all(server.requests.map((one) => one.json() as Promise<object>));
  expect(sent).toEqual([
    { idempotency_key: expect.any(String) as string, sku: 1, captcha: 't1' },
    { idempotency_key: expect.any(String) as string, sku: 1, captcha: 't2' },
  ]);
});

test('a token in a header is what is given now, without a declaration', async () => {
  const { server, submit } = open([]);
  await submit((fetch, attempt) =>
    fetch(origin, { method: 'POST', body: 'a', headers: { 'x-captcha': `t${attempt}` } }),
  );
  expect(server.requests.map(({ headers }) => headers.get('x-captcha'))).toEqual(['t1', 't2']);
});

test.each([
  ['fresh', 'captcha', 'a list of names'],
  ['fresh', [''], 'a list of names'],
  ['refusalIsStored', 'yes', 'true or false'],
])('%s that is %j is refused', (option, value, allowed) => {
  expect(() => defineIdempotency({ header: 'Key', [option]: value })).toThrow(
    new RegExp(`^defineIdempotency: ${option} .*must be ${allowed}`),
  );
});
