import { Readable } from 'node:stream';
import axios from 'axios';
import { createSteadfetch, profiles, retry } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openServer, versions } from './loopback.ts';

const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);

/** A form of the package form-data, which axios brings in Node. */
interface NodeForm {
  readonly append: (name: string, value: unknown, options?: object) => void;
}

function nodeForm(): NodeForm {
  const NodeForm = axios.defaults.env?.FormData as unknown as new () => NodeForm;
  const form = new NodeForm();
  form.append('a', '1');
  form.append('file', Buffer.from(bytes), { filename: 'f.bin', contentType: 'image/png' });
  return form;
}
function nativeForm(): FormData {
  const form = new FormData();
  form.append('a', '1');
  form.append('file', new Blob([bytes], { type: 'image/png' }), 'f.bin');
  return form;
}

interface Kind {
  readonly make: () => unknown;
  /** The bytes, or what a form says. */
  readonly sent: string | readonly (readonly [string, string])[];
  readonly type: RegExp;
  readonly contentType?: string;
  /** Not in 0.x, which knows it in browsers alone. */
  readonly isNew?: boolean;
  /** It can be sent once, and so not with a key. */
  readonly isOnce?: boolean;
}

const latin1 = Buffer.from(bytes).toString('latin1');
const fields = [
  ['a', '1'],
  ['file', `f.bin image/png ${latin1}`],
] as const;
const form = /^multipart\/form-data; ?boundary=[-.\w]+$/;

const kinds: Readonly<Record<string, Kind>> = {
  'an object': { make: () => ({ a: 1 }), sent: '{"a":1}', type: /^application\/json$/ },
  'an object as a form': {
    make: () => ({ a: 1, b: ['x', 'y'], c: 'ä' }),
    contentType: 'multipart/form-data',
    sent: [
      ['a', '1'],
      ['b[]', 'x'],
      ['b[]', 'y'],
      ['c', 'ä'],
    ],
    type: form,
  },
  'an object as a form, with bytes': {
    make: () => ({ a: 1, file: Buffer.from(bytes) }),
    contentType: 'multipart/form-data',
    sent: latin1,
    type: form,
  },
  'an object, url-encoded': {
    make: () => ({ a: 1, b: 'x y' }),
    contentType: 'application/x-www-form-urlencoded',
    sent: 'a=1&b=x+y',
    type: /^application\/x-www-form-urlencoded/,
  },
  'a URLSearchParams': {
    make: () => new URLSearchParams({ a: '1' }),
    sent: 'a=1',
    type: /^application\/x-www-form-urlencoded;charset=utf-8$/,
  },
  'a FormData': { make: nativeForm, sent: fields, type: form, isNew: true },
  'a form of form-data': { make: nodeForm, sent: fields, type: form },
  'a form of form-data with a stream': {
    make: () => {
      const made = nodeForm();
      made.append('stream', Readable.from([Buffer.from('x')]), {
        filename: 's.txt',
        knownLength: 1,
      });
      return made;
    },
    sent: latin1,
    type: form,
    isOnce: true,
  },
  'a Buffer': {
    make: () => Buffer.from(bytes),
    sent: latin1,
    contentType: 'application/octet-stream',
    type: /^application\/octet-stream$/,
  },
  'an ArrayBuffer': {
    make: () => bytes.slice().buffer,
    sent: latin1,
    contentType: 'application/octet-stream',
    type: /^application\/octet-stream$/,
  },
  'a Uint8Array': {
    make: () => bytes.slice(),
    sent: latin1,
    contentType: 'application/octet-stream',
    type: /^application\/octet-stream$/,
  },
  'a Blob': {
    make: () => new Blob([bytes], { type: 'image/png' }),
    sent: latin1,
    type: /^image\/png$/,
    isNew: true,
  },
  'a stream of Node': {
    make: () => Readable.from([Buffer.from(bytes)]),
    sent: latin1,
    type: /^application\/octet-stream$/,
    contentType: 'application/octet-stream',
    isOnce: true,
  },
  'a text': { make: () => 'ä', sent: 'Ã¤', type: /^application\/x-www-form-urlencoded$/ },
  'an empty text': { make: () => '', sent: '', type: /^application\/x-www-form-urlencoded$/ },
  nothing: { make: () => undefined, sent: '', type: /^$|urlencoded/ },
};

/** What was sent, as the table says it. */
async function shown(body: Buffer, type: string, sent: Kind['sent']): Promise<Kind['sent']> {
  if (typeof sent === 'string') {
    const text = body.toString('latin1');
    // Of a form with other parts, the bytes of one.
    return form.test(type) && text.includes(sent) ? sent : text;
  }
  const headers = { 'content-type': type };
  const parts = await new Response(new Uint8Array(body), { headers }).formData();
  return Promise.all(
    [...parts].map(async ([name, value]) => {
      if (typeof value === 'string') return [name, value] as const;
      const content = Buffer.from(await value.arrayBuffer()).toString('latin1');
      return [name, `${value.name} ${value.type} ${content}`] as const;
    }),
  );
}

const cases = versions.flatMap(([version, client]) =>
  Object.entries(kinds).flatMap(([name, kind]) =>
    [false, true]
      .filter((isKeyed) => isKeyed || !kind.isNew || version !== 'axios 0.x')
      .map(
        (isKeyed) =>
          [version, isKeyed ? 'with a key' : 'without a key', name, client, kind] as const,
      ),
  ),
);

describe.each(cases)('%s, %s', (_, keyed, name, client, kind) => {
  test(`the body of a POST is ${name}`, async () => {
    const isKeyed = keyed === 'with a key';
    const { make, sent, type, contentType, isOnce } = kind;
    let failures = isKeyed ? 1 : 0;
    const server = await openServer((response) => {
      if (failures-- > 0) response.writeHead(503).end();
      else response.setHeader('content-type', 'application/json').end('{"id":1}');
    });
    const steady = createSteadfetch({
      policy: { baseMs: 0, capMs: 0 },
      random: () => 0,
      apis: [{ match: server.origin, idempotency: profiles.draft }],
    });
    onTestFinished(() => steady.dispose());
    const api = client.create({ adapter: steadyAdapter(steady, client), proxy: false });
    const headers = {
      ...(contentType && { 'content-type': contentType }),
      ...(isKeyed && { 'idempotency-key': '"8e03978e"' }),
    };
    const sending = retry(steady, ({ signal }) =>
      api.post<unknown>(server.origin, make(), { headers, signal }),
    );
    const refused = {
      code: 'ERR_BAD_REQUEST',
      message: expect.stringContaining('stream') as string,
    };
    const told = await sending.then(
      ({ data }) => data,
      (error: unknown) => error,
    );
    expect(told).toMatchObject(isKeyed && isOnce ? refused : { id: 1 });
    expect(server.arrived).toHaveLength(!isKeyed ? 1 : isOnce ? 0 : 2);
    for (const { headers: given, body } of server.arrived) {
      expect(given['content-type'] ?? '').toMatch(type);
      expect(await shown(body, given['content-type'] ?? '', sent)).toEqual(sent);
      expect(given['idempotency-key']).toBe(isKeyed ? '"8e03978e"' : undefined);
      expect(body).toEqual(server.arrived[0]?.body);
    }
  });
});
