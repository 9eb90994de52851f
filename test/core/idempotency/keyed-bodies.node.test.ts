import { type ApiProfile, defineIdempotency, profiles, type SteadyInit } from 'steadfetch';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { deriveKey } from '../../../src/core/idempotency/key.ts';
import { answer, fakeServer, type Handler, origin, refuse } from '../fetch/fake-server.ts';
import { createSubmitter, submissionKey } from '../fetch/submit.ts';

let warnings: string[];
beforeEach(() => {
  warnings = [];
  vi.spyOn(console, 'warn').mockImplementation((text: string) => void warnings.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

const draft: ApiProfile = { match: origin, idempotency: profiles.draft };

const formOf = (...entries: readonly (readonly [string, string | File])[]): FormData => {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  return form;
};

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

describe('of a Request', () => {
  const send = async (
    handlers: readonly [Handler, ...Handler[]],
    make: (attempt: number) => Request,
    init: SteadyInit = {},
    idempotency: ApiProfile['idempotency'] = profiles.draft,
  ) => {
    const server = fakeServer(...handlers);
    const { submit } = createSubmitter(server.fetch, [{ match: origin, idempotency }]);
    const { error } = await submit((fetch, attempt) => fetch(make(attempt), init));
    expect(error).toBeUndefined();
    return Promise.all(server.requests.map((one) => one.text()));
  };
  const post = (body: BodyInit, type?: string): Request =>
    new Request(origin, {
      method: 'POST',
      body,
      ...(type !== undefined && { headers: { 'content-type': type } }),
    });

  test('the body that is given beside it is sent', async () => {
    expect(await send([answer()], () => post('a'), { body: 'b' })).toEqual(['b']);
    const own = '{"idempotency_key":"mine"}';
    const sent = await send([answer()], () => post(own), { body: '{}' }, profiles.square);
    expect(sent).toEqual([`{"idempotency_key":"${submissionKey}"}`]);
  });

  test('every byte is kept', async () => {
    const bytes = new Uint8Array([0xff, 0x00, 0xef, 0xbb, 0xbf]);
    const server = fakeServer(answer());
    const { submit } = createSubmitter(server.fetch, [draft]);
    for (const type of [undefined, 'application/octet-stream', 'application/json'])
      await submit((fetch) => fetch(post(bytes, type)));
    const sent = await Promise.all(server.requests.map((one) => one.arrayBuffer()));
    expect(sent.map((buffer) => [...new Uint8Array(buffer)])).toEqual([
      [...bytes],
      [...bytes],
      [...bytes],
    ]);
  });

  test('a field that is given anew is taken of JSON alone', async () => {
    const fresh = defineIdempotency({ ...profiles.draft, fresh: ['captcha'] });
    const bytes = (text: string): BodyInit => new TextEncoder().encode(text);
    const make = (type?: string) => (attempt: number) =>
      post(bytes(`{"captcha":"${attempt}"}`), type);
    const [first, second] = ['{"captcha":"1"}', '{"captcha":"2"}'];
    const twice: readonly [Handler, Handler] = [refuse, answer()];
    expect(await send(twice, make('application/json'), {}, fresh)).toEqual([first, second]);
    expect(await send(twice, make('application/octet-stream'), {}, fresh)).toEqual([first, first]);
    expect(await send(twice, make(), {}, fresh)).toEqual([first, first]);
  });

  test.each(['GET', 'HEAD'])('a %s has no body', async (method) => {
    const sent = await send([answer()], () => new Request(origin, { method }), { step: 'read' });
    expect(sent).toEqual(['']);
  });

  test.each(['TARGET', 'HEADER'])('a %s has one, the same each time', async (method) => {
    const make = (attempt: number): Request => {
      const init: RequestInit = { method, body: `${attempt}` };
      return new Request(origin, init);
    };
    expect(await send([refuse, answer()], make, { step: 'other' })).toEqual(['1', '1']);
  });
});

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

test('so is a FormData whose parts cannot be read, as that of React Native', async () => {
  class Opaque {
    readonly parts = [];
  }
  vi.stubGlobal('FormData', Opaque);
  const { error, attempts, sent } = await sendTwice(() => new Opaque() as unknown as FormData);
  expect(error).toHaveProperty(
    'message',
    'steady.fetch: body is a FormData that cannot be read. A request with an idempotency key is sent again: give text or a Blob.',
  );
  expect([attempts, sent.length]).toEqual([1, 0]);
});

test('in production a refused body is named, too, and its remedy is left out', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  const { error, sent } = await sendTwice(() => new Blob(['x']).stream());
  expect(error).toEqual(
    new TypeError('steady.fetch: body is a stream, which can be sent only once.'),
  );
  expect(sent).toEqual([]);
});

test('a body that has only grown is another body', async () => {
  const { sent } = await sendTwice((attempt) => 'ab'.slice(0, attempt));
  expect(sent.map(([, text]) => text)).toEqual(['a', 'a']);
  expect(warnings).toHaveLength(1);
});

/** A file that was moved since it was chosen: nothing of it can be read. */
class Gone extends File {
  override slice(...range: readonly [number?, number?, string?]): Blob {
    const arrayBuffer = (): Promise<never> =>
      Promise.reject(new DOMException('It is gone.', 'NotReadableError'));
    return Object.assign(super.slice(...range), { arrayBuffer });
  }
}

test.each<[string, (file: File) => BodyInit]>([
  ['of a form', (file) => formOf(['size', 'M'], ['photo', file])],
  ['that is the body', (file) => file],
])('a file %s that can no longer be read is named', async (_, make) => {
  const server = fakeServer(refuse);
  const { submit } = createSubmitter(server.fetch, [draft]);
  const body = make(new Gone(['x'], 'kite.jpg'));
  const { error, attempts } = await submit((fetch) => fetch(origin, { method: 'POST', body }));
  expect(error).toHaveProperty(
    'message',
    'The file "kite.jpg" was changed, moved or removed. Select it again.',
  );
  expect(attempts).toBe(1);
});

test('a file is known after a reload by its bytes and its type, not by its name and its date', async () => {
  const digest = async (body: unknown): Promise<string> => {
    const { name, lastModified, type } = body as Partial<File>;
    return JSON.stringify([name, lastModified, type, await (body as File).text()]);
  };
  const known = JSON.stringify([undefined, undefined, 'text/css', 'a']);
  const past = [
    { id: '', target: `POST ${origin}/`, key: submissionKey, sentAt: 1, digest: known },
  ];
  const server = fakeServer(answer());
  const { submit } = createSubmitter(server.fetch, [draft]);
  const body = new File(['a'], 'new.css', { lastModified: 2, type: 'text/css' });
  const run = { wasSent: true, past, digest };
  const { error } = await submit((fetch) => fetch(origin, { method: 'POST', body }), run);
  expect(error).toBeUndefined();
  expect(await server.requests[0]?.text()).toBe('a');
});

test('a body that cannot be read the next time is not needed: what was sent first is sent', async () => {
  const { sent } = await sendTwice((attempt) => (attempt === 1 ? 'a' : new Blob(['b']).stream()));
  expect(sent.map(([, text]) => text)).toEqual(['a', 'a']);
  expect(warnings).toEqual([]);
});

test('what surely was not done is sent again with the bytes of the first attempt, too', async () => {
  const server = fakeServer(answer(429), answer());
  const { submit } = createSubmitter(server.fetch, [draft]);
  await submit((fetch, attempt) => fetch(origin, { method: 'POST', body: `${attempt}` }));
  expect(await Promise.all(server.requests.map((one) => one.text()))).toEqual(['1', '1']);
});

test('the first sending reads no body to compare it', async () => {
  const read = vi.spyOn(Response.prototype, 'arrayBuffer');
  const server = fakeServer(answer());
  const { submit } = createSubmitter(server.fetch, [draft]);
  await submit((fetch) => fetch(origin, { method: 'POST', body: 'a' }));
  expect(read).not.toHaveBeenCalled();
});

test('of each request that changes its body the developer is told once', async () => {
  const server = fakeServer(refuse, answer(503), answer());
  const { submit } = createSubmitter(server.fetch, [draft]);
  await submit(async (fetch, attempt) => {
    const init = { method: 'POST', body: `${attempt}` };
    await Promise.all([
      fetch(`${origin}/a?x#y`, init),
      fetch(`${origin}/b`, { ...init, step: 'b' }),
    ]);
  });
  const text = (path: string): string =>
    `[steadfetch] POST ${origin}${path}: this attempt was given another body than the first. One key has one payload, ` +
    `so the first is sent again. Make what changes (a time, a random number) before the mutation, not within it. ` +
    `See node_modules/steadfetch/docs/idempotency.md#bytes.`;
  expect(warnings.toSorted()).toEqual([text('/a'), text('/b')]);
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
