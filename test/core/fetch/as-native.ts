import { createSteadfetch, type SteadyInit } from 'steadfetch';
import { openTalk } from '../../browser/talk.ts';

type Arguments = readonly [input: RequestInfo | URL, init?: SteadyInit & { duplex?: 'half' }];

/** Makes the arguments anew for each call: a body can be sent once. */
type Make = (url: string) => Arguments;

/** An init whose members are getters of its class, which no spread copies. */
class GivenInit {
  get method(): string {
    return 'PUT';
  }
  get headers(): HeadersInit {
    return { 'x-own': 'class' };
  }
  get body(): string {
    return 'of a class';
  }
}

function form(): FormData {
  const data = new FormData();
  data.append('name', 'Ærø "1"');
  data.append('file', new File(['content'], 'a.txt', { type: 'text/plain' }));
  return data;
}

const bytes = new TextEncoder().encode('bytes');
const post = (body: BodyInit): Make => {
  return (url) => [url, { method: 'POST', body }];
};
const stringified = { toString: () => 'put' } as unknown as string;

/** What fetch accepts, in every form. */
const accepted: readonly (readonly [string, Make])[] = [
  ['a method of null', (url) => [url, { method: null, body: 'content' } as never]],
  ['a string', (url) => [url]],
  ['a URL', (url) => [new URL(url)]],
  ['an object that has a url, and is no Request', (url) => [mislead(url)]],
  ['a Request', (url) => [new Request(url, { method: 'PUT', body: 'content' })]],
  ['an init of undefined', (url) => [url, undefined]],
  ['a URL of null', () => [null as never]],
  ['an init of null', (url) => [url, null as never]],
  ['an init without anything', (url) => [url, {}]],
  [
    'an init of members that are undefined',
    (url) => [
      url,
      { method: undefined, body: undefined, headers: undefined, signal: undefined } as never,
    ],
  ],
  [
    'an init without a prototype',
    (url) => [url, Object.assign(Object.create(null), { method: 'PUT', body: 'content' })],
  ],
  [
    'inherited members',
    (url) => [url, Object.create({ method: 'PUT', body: 'content', headers: { 'x-own': '1' } })],
  ],
  [
    'getters of its own',
    (url) => [
      url,
      {
        get method() {
          return 'PUT';
        },
        get body() {
          return 'content';
        },
      },
    ],
  ],
  ['getters of a class', (url) => [url, new GivenInit()]],
  [
    'members that are not enumerable',
    (url) => [
      url,
      Object.defineProperties({}, { method: { value: 'PUT' }, body: { value: 'content' } }),
    ],
  ],
  [
    'a function as init',
    (url) => [url, Object.assign(() => {}, { method: 'PUT', body: 'content' })],
  ],
  [
    'a Request as init',
    (url) => [url, new Request(url, { method: 'DELETE', headers: { 'x-own': '1' } })],
  ],
  [
    'a Request with a Request as init',
    (url) => [
      new Request(url, { headers: { 'x-own': '1' } }),
      new Request(url, { method: 'DELETE' }),
    ],
  ],
  [
    'a Request and new headers',
    (url) => [
      new Request(url, { method: 'PUT', body: 'content', headers: { 'x-own': '1' } }),
      { headers: { 'x-other': '2' } },
    ],
  ],
  [
    'a Request and a new body',
    (url) => [new Request(url, { method: 'PUT', body: 'content' }), { body: 'other' }],
  ],
  [
    'a Request and a method',
    (url) => [new Request(url, { method: 'PUT', body: 'content' }), { method: 'POST' }],
  ],
  [
    'a Request whose signal is taken away',
    (url) => [new Request(url, { signal: new AbortController().signal }), { signal: null }],
  ],
  ['a method in lower case that is put right', (url) => [url, { method: 'put', body: 'content' }]],
  ['patch in lower case', (url) => [url, { method: 'PaTcH', body: 'content' }]],
  ['a method that is made a text', (url) => [url, { method: stringified, body: 'content' }]],
  ['headers as Headers', (url) => [url, { headers: new Headers({ 'x-own': '1' }) }]],
  [
    'headers as an array',
    (url) => [
      url,
      {
        headers: [
          ['x-own', '1'],
          ['x-own', '2'],
        ],
      },
    ],
  ],
  ['headers as a record', (url) => [url, { headers: { 'X-OWN': ' 1 ' } }]],
  ['headers as a Map', (url) => [url, { headers: new Map([['x-own', '1']]) as never }]],
  [
    'a content type of its own',
    (url) => [
      url,
      { method: 'POST', body: '{}', headers: { 'content-type': 'application/x-own' } },
    ],
  ],
  ['text', post('Ærø')],
  ['an empty text', post('')],
  ['a body of null', (url) => [url, { method: 'POST', body: null }]],
  ['a number as body', post(17 as never)],
  ['an object that is made a text', post({ toString: () => 'text' } as never)],
  ['a FormData', (url) => [url, { method: 'POST', body: form() }]],
  ['URLSearchParams', post(new URLSearchParams({ a: '1', b: 'ø' }))],
  ['a Blob', post(new Blob(['content'], { type: 'text/x-own' }))],
  ['a Blob without a type', post(new Blob(['content']))],
  ['a File', post(new File(['content'], 'a.txt', { type: 'text/plain' }))],
  ['an ArrayBuffer', post(bytes.buffer.slice(0))],
  ['a typed array', post(bytes)],
  ['a part of a typed array', post(bytes.subarray(1, 3))],
  ['a DataView', post(new DataView(bytes.buffer, 1, 2))],
  [
    'a stream of an answer',
    (url) => [url, { method: 'POST', body: new Response('content').body, duplex: 'half' }],
  ],
  ['a referrer', (url) => [url, { referrer: '' }]],
  ['a policy of the referrer', (url) => [url, { referrerPolicy: 'no-referrer' }]],
  [
    'a Request with a referrer of its own',
    (url) => [new Request(url, { referrer: '', referrerPolicy: 'unsafe-url' })],
  ],
  [
    'a Request with a policy of the referrer',
    (url) => [new Request(url, { referrerPolicy: 'unsafe-url' })],
  ],
  [
    'such a Request, and an init',
    (url) => [new Request(url, { referrerPolicy: 'unsafe-url' }), { method: 'POST' }],
  ],
  [
    'such a Request, and a time limit',
    (url) => [new Request(url, { referrerPolicy: 'unsafe-url' }), { cache: undefined } as never],
  ],
  ['keepalive', (url) => [url, { method: 'POST', body: 'content', keepalive: true }]],
  ['a signal', (url) => [url, { signal: new AbortController().signal }]],
  ['a signal of null', (url) => [url, { signal: null }]],
  ['a priority', (url) => [url, { priority: 'low' } as never]],
  ['a window of null', (url) => [url, { window: null }]],
  [
    'the modes of cache and credentials',
    (url) => [url, { cache: 'no-store', credentials: 'omit', mode: 'cors', redirect: 'manual' }],
  ],
  [
    'integrity',
    (url) => [url, { integrity: 'sha256-A3ySFO73TMOIfzpPCFtOF9digNr9JzsO4WDAnEuhz9Q=' }],
  ],
];

/** What fetch refuses: the same, and nothing is sent. */
const refused: readonly (readonly [string, Make])[] = [
  ['a text as init', (url) => [url, 'PUT' as never]],
  ['a signal that is none', (url) => [url, { signal: {} } as never]],
  ['an aborted signal that is none', (url) => [url, { signal: { aborted: true } } as never]],
  ['a GET with a body', (url) => [url, { body: 'content' }]],
  [
    'a getter that throws',
    (url) => [
      url,
      {
        get body(): never {
          throw new RangeError('body');
        },
      },
    ],
  ],
];

function mislead(url: string): URL {
  return { url: `${url}&misled`, toString: () => url } as unknown as URL;
}

interface Sent {
  readonly end: string;
  readonly requests: readonly unknown[];
}

async function send(
  origin: string,
  fetchLike: typeof fetch,
  make: Make,
  mayFail: boolean,
): Promise<Sent> {
  const talk = openTalk(origin, 'ok');
  const end = await fetchLike(...make(talk.url)).then(
    ({ status, type }) => `${status} ${type}`,
    (error: unknown) => {
      const { name, response } = error as Error & { response?: Response };
      if (response) return `${response.status} ${response.type}`;
      // What fetch says of a network that failed.
      return name === 'NetworkError' && mayFail ? 'TypeError' : name;
    },
  );
  const { requests } = await talk.log();
  return {
    end,
    requests: requests.map(({ method, headers, body }) => {
      const [type = '', boundary] = /^.*boundary=(.*)/.exec(headers['content-type'] ?? '') ?? [];
      if (boundary === undefined) return { method, headers, body };
      // It is random, in Firefox in its length as well.
      const shown = body.replaceAll(boundary, 'B');
      const length = Number(headers['content-length']) - (body.length - shown.length);
      const shownHeaders = {
        'content-type': type.replace(boundary, 'B'),
        'content-length': `${length}`,
      };
      return { method, headers: { ...headers, ...shownHeaders }, body: shown };
    }),
  };
}

/** Each row, and what sends it: by fetch itself, and by ours. */
export const rowsAsNative = [...accepted, ...refused].map(([name, make]) => {
  const isRefused = refused.some(([refusedName]) => refusedName === name);
  return [
    name,
    async (origin: string) => ({
      mostRequests: isRefused ? 0 : 1,
      native: await send(origin, (...given) => fetch(...given), make, !isRefused),
      ours: await send(origin, createSteadfetch().fetch, make, !isRefused),
    }),
  ] as const;
});
