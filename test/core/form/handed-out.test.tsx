import { defineIdempotency, mutationOptions } from 'steadfetch';
import createClient from 'openapi-fetch';
import { describe, expect, test, vi } from 'vitest';
import type { paths } from '../../clients/recipes/openapi.ts';
import { createFormRig, type FormRig } from '../react/form-rig.tsx';
import type { Transport } from '../../../src/core/lib/clock.ts';

vi.spyOn(console, 'warn').mockImplementation(() => {});

const origin = 'http://localhost:3000';
const idempotencyKeys = defineIdempotency({ header: 'Idempotency-Key', lifetimeMs: Infinity });

/** A server of products that answers its first requests like this, and all later ones with 200. */
function createServer(...first: readonly (Response | 'lost')[]) {
  const answers = [...first];
  const arrivals: string[] = [];
  const fetch: Transport = async (input, init) => {
    const { url, headers } = new Request(input, init);
    arrivals.push(`${new URL(url).pathname} ${headers.get('idempotency-key')}`);
    const answer = answers.shift() ?? Response.json(['kite']);
    if (answer === 'lost') throw new TypeError('Failed to fetch');
    return answer;
  };
  return { arrivals, fetch };
}

type Server = ReturnType<typeof createServer>;

/** A form whose client hands out what went wrong, and whose app looks at nothing of it. */
function open(server: Server, maxRetries: number) {
  const rig: FormRig = createFormRig({
    config: {
      fetch: server.fetch,
      apis: [{ match: `${origin}/products`, idempotency: idempotencyKeys }],
    },
  });
  const save = mutationOptions(rig.steady, {
    mutationFn: (_: object, { rawFetch }) =>
      createClient<paths>({ baseUrl: origin, fetch: rawFetch })
        .POST('/products', { body: { name: 'kite' } })
        .catch((error: unknown) => ({ error })),
    policy: { maxRetries },
  });
  const onSuccess = vi.fn<() => void>();
  const form = rig.createForm({}, { ...save, onSuccess });
  rig.show(<form.Form />);
  return {
    onSuccess,
    async pressAndWait() {
      const result = form.press();
      await rig.time.advance(60_000);
      return result;
    },
  };
}

const empty = (status: number): Response =>
  new Response(null, { status, headers: { 'content-length': '0' } });

type Row = readonly [answer: string, answer: () => Response | 'lost', end: string];
const rows: readonly Row[] = [
  ['500', () => Response.json({}, { status: 500 }), 'unknown'],
  ['503', () => Response.json({}, { status: 503 }), 'unknown'],
  ['503 without content, of which openapi-fetch makes no error', () => empty(503), 'unknown'],
  ['504', () => empty(504), 'unknown'],
  ['429', () => empty(429), 'failed'],
  ['none', () => 'lost', 'unknown'],
  // An app may take these for done: it is there already, or gone already.
  ['404', () => empty(404), 'succeeded'],
  ['422', () => Response.json({}, { status: 422 }), 'succeeded'],
  ['200', () => Response.json([]), 'succeeded'],
];

describe.each(rows)(
  'a form whose client hands out its answer, %s, as its result',
  (_, make, end) => {
    test(`ends as ${end}`, async () => {
      const server = createServer(make(), make());
      const { onSuccess, pressAndWait } = open(server, 0);
      expect(await pressAndWait()).toMatchObject({ status: end });
      expect(onSuccess).toHaveBeenCalledTimes(end === 'succeeded' ? 1 : 0);
    });

    test('is sent again under the same key, where that may help', async () => {
      const server = createServer(make());
      const { pressAndWait } = open(server, 3);
      expect(await pressAndWait()).toMatchObject({ status: 'succeeded' });
      const [first] = server.arrivals;
      expect(server.arrivals).toEqual(Array(end === 'succeeded' ? 1 : 2).fill(first));
    });

    test('is sent under the same key with the next press, where it may have been done', async () => {
      const server = createServer(make());
      const { pressAndWait } = open(server, 0);
      await pressAndWait();
      await pressAndWait();
      const [first, second] = server.arrivals;
      expect(second === first).toBe(end === 'unknown');
    });
  },
);
