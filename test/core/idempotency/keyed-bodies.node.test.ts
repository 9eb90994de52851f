import { type ApiProfile, profiles } from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deriveKey } from '../../../src/core/idempotency/key.ts';
import { answer, fakeServer, origin, refuse } from '../fetch/fake-server.ts';
import { createSubmitter, submissionKey } from '../fetch/submit.ts';

let warnings: string[];
beforeEach(() => {
  warnings = [];
  vi.spyOn(console, 'warn').mockImplementation((text: string) => void warnings.push(text));
});
afterEach(() => void vi.restoreAllMocks());

const draft: ApiProfile = { match: origin, idempotency: profiles.draft };

/** Sends what `body` makes in each of two attempts; tells the content type and the bytes of both. */
async function sendTwice(body: (attempt: number) => BodyInit | null, init: RequestInit = {}) {
  const server = fakeServer(refuse, answer());
  const { submit } = createSubmitter(server.fetch, [draft]);
  const { error, attempts } = await submit((fetch, attempt) =>
    fetch(`${origin}/`, { method: 'POST', body: body(attempt), ...init }),
  );
  const sent = await Promise.all(
    server.requests.map(async (request) => [
      request.headers.get('content-type'),
      await request.text(),
    ]),
  );
  return { error, attempts, first: sent[0], second: sent[1], sent };
}

test.each<[string, () => BodyInit | null, string | null, string]>([
  ['text', () => 'Ærø', 'text/plain;charset=UTF-8', 'Ærø'],
  [
    'a urlencoded form',
    () => new URLSearchParams({ a: 'b c' }),
    'application/x-www-form-urlencoded;charset=UTF-8',
    'a=b+c',
  ],
  ['a Blob', () => new Blob(['x'], { type: 'text/css' }), 'text/css', 'x'],
  ['a File', () => new File(['x'], 'x.css', { type: 'text/css' }), 'text/css', 'x'],
  ['an ArrayBuffer', () => new TextEncoder().encode('xyz').buffer, null, 'xyz'],
  ['a view', () => new TextEncoder().encode('xyz').subarray(1), null, 'yz'],
  ['nothing', () => null, null, ''],
])('%s is sent as fetch sends it, twice the same', async (_, body, type, text) => {
  expect(await sendTwice(body)).toMatchObject({
    sent: [
      [type, text],
      [type, text],
    ],
    error: undefined,
  });
  expect(warnings).toEqual([]);
});

test.each<[string, () => { body: BodyInit; change: () => void }]>([
  [
    'a urlencoded form',
    () => {
      const body = new URLSearchParams({ a: '1' });
      return { body, change: () => body.set('a', '2') };
    },
  ],
  [
    'a view',
    () => {
      const body = new Uint8Array([97, 61, 49]);
      return { body, change: () => body.fill(0) };
    },
  ],
  [
    'an ArrayBuffer',
    () => {
      const body = new Uint8Array([97, 61, 49]);
      return { body: body.buffer, change: () => body.fill(0) };
    },
  ],
])('%s that changes in between does not change what is sent', async (_, make) => {
  const { body, change } = make();
  const { sent } = await sendTwice((attempt) => {
    if (attempt === 2) change();
    return body;
  });
  expect(sent.map(([, text]) => text)).toEqual(['a=1', 'a=1']);
  expect(warnings).toHaveLength(1);
});

test('so does a form that changes', async () => {
  const form = new FormData();
  form.set('a', '1');
  const { first, second } = await sendTwice((attempt) => {
    form.set('a', String(attempt));
    return form;
  });
  expect(second).toEqual(first);
  expect(warnings).toHaveLength(1);
});

describe('a form with files', () => {
  const make = (): FormData => {
    const form = new FormData();
    form.set('na"me\n', 'line\nline\rline\r\n');
    form.set('kite', new File(['<kite>'], 'a "b"\r\n.svg', { type: 'image/svg+xml' }));
    form.append('kite', new File([], 'ø'));
    return form;
  };
  const boundary = deriveKey(submissionKey, 'boundary ');

  test('has the same bytes on every attempt, also when it is made anew, and after a reload', async () => {
    const { first, second } = await sendTwice(make);
    const expected = [
      `multipart/form-data; boundary=${boundary}`,
      [
        `--${boundary}`,
        'Content-Disposition: form-data; name="na%22me%0D%0A"',
        '',
        'line\r\nline\r\nline\r\n',
        `--${boundary}`,
        'Content-Disposition: form-data; name="kite"; filename="a %22b%22%0D%0A.svg"',
        'Content-Type: image/svg+xml',
        '',
        '<kite>',
        `--${boundary}`,
        'Content-Disposition: form-data; name="kite"; filename="ø"',
        'Content-Type: application/octet-stream',
        '',
        '',
        `--${boundary}--`,
        '',
      ].join('\r\n'),
    ];
    expect(first).toEqual(expected);
    expect(second).toEqual(expected);
    expect(warnings).toEqual([]);
  });

  test('is what fetch makes of it, but for the boundary', async () => {
    const { first } = await sendTwice(make);
    const own = new Response(make());
    const its = own.headers.get('content-type')?.split('boundary=')[1] ?? '';
    expect(first?.[1]?.replaceAll(boundary, its)).toBe(await own.text());
  });

  test('under a key of the call has a boundary that nobody can guess', async () => {
    const server = fakeServer(answer());
    const { fetch } = createSubmitter(server.fetch, [draft]);
    const init = { method: 'POST', idempotencyKey: 'order-17' };
    await fetch(origin, { ...init, body: make() });
    await fetch(origin, { ...init, body: make() });
    const [one, other] = server.requests.map(({ headers }) => headers.get('content-type'));
    expect(one).toMatch(/^multipart\/form-data; boundary=[\da-f-]{36}$/);
    expect(other).not.toBe(one);
  });
});

test('a Request is read once, and may be passed again', async () => {
  const server = fakeServer(refuse, answer());
  const { submit } = createSubmitter(server.fetch, [draft]);
  const request = new Request(origin, { method: 'POST', body: new URLSearchParams({ a: '1' }) });
  await submit((fetch) => fetch(request));
  const sent = server.requests.map(async ({ headers, text }, index) => [
    headers.get('content-type'),
    headers.get('idempotency-key'),
    await text.call(server.requests[index]),
  ]);
  const all = ['application/x-www-form-urlencoded;charset=UTF-8', `"${submissionKey}"`, 'a=1'];
  expect(await Promise.all(sent)).toEqual([all, all]);
});

test.each([
  ['', {}],
  [' with a key of its own', { 'Idempotency-Key': '"own"' }],
])(
  'a form in a Request%s is sent twice the same, though each Request has another boundary',
  async (_, headers) => {
    const server = fakeServer(refuse, answer());
    const { submit } = createSubmitter(server.fetch, [draft]);
    await submit((fetch) => {
      const body = new FormData();
      body.set('size', 'M');
      body.set('photo', new File(['x'], 'x.txt', { type: 'text/plain' }));
      return fetch(new Request(origin, { method: 'POST', body, headers }));
    });
    const [one, other] = server.requests;
    const type = one?.headers.get('content-type');
    expect(type).toMatch(/^multipart\/form-data; boundary=[\da-f-]{36}$/);
    expect(other?.headers.get('content-type')).toBe(type);
    const again = await other?.clone().text();
    expect(await one?.clone().text()).toBe(again);
    // As whoever gets it reads it.
    const form = await other?.formData();
    expect(form?.get('size')).toBe('M');
    const photo = form?.get('photo') as File | undefined;
    expect(await photo?.text()).toBe('x');
    expect(warnings).toEqual([]);
  },
);

test('a Request that was used is a mistake in the program, and final', async () => {
  const server = fakeServer(answer());
  const { submit } = createSubmitter(server.fetch, [draft]);
  const request = new Request(origin, { method: 'POST', body: 'x' });
  await request.text();
  const { error, attempts } = await submit((fetch) => fetch(request));
  expect(error).toBeInstanceOf(TypeError);
  expect([attempts, server.requests.length]).toEqual([1, 0]);
});

test('a stream is refused, whoever retries', async () => {
  const { error, attempts, sent } = await sendTwice(() => new Blob(['x']).stream(), {
    duplex: 'half',
  } as RequestInit);
  expect(error).toHaveProperty(
    'message',
    'steady.fetch: body is a stream, which can be sent only once. A request with an idempotency key is sent again: give a Blob or text.',
  );
  expect([attempts, sent.length]).toEqual([1, 0]);
});

test('requests that are made at once are told apart by their names, however long a body takes', async () => {
  const server = fakeServer(answer(), refuse, answer(), answer(), answer());
  const { submit } = createSubmitter(server.fetch, [draft]);
  const slow = new Blob(['a'.repeat(100_000)]);
  await submit((fetch) =>
    Promise.all([
      fetch(origin, { method: 'POST', body: slow }),
      fetch(origin, { method: 'POST', body: new Blob(['b']), step: 'second' }),
    ]),
  );
  const sent = server.requests.map(async (request) => [
    request.headers.get('idempotency-key'),
    (await request.text()).slice(0, 1),
  ]);
  const second = deriveKey(submissionKey, '0 #second');
  const both = [
    [`"${submissionKey}"`, 'a'],
    [`"${second}"`, 'b'],
  ];
  expect(await Promise.all(sent)).toEqual([...both, ...both]);
});
