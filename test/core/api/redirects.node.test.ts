import { createSteadfetch, refreshOn401 } from 'steadfetch';
import { steadyAdapter } from 'steadfetch/axios';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openServer, versions } from '../../axios/loopback.ts';

const credentials = { authorization: 'Bearer t', 'x-api-key': 'secret' };

/** A server that redirects by `to` and `status` in its query, and another one, which is not of the API. */
async function open(isMatchingBoth = false) {
  const answer: Parameters<typeof openServer>[0] = (response, { url }) => {
    const { searchParams } = new URL(url, 'http://localhost');
    const to = searchParams.get('to');
    const status = Number(searchParams.get('status') ?? 302);
    if (to !== null) response.writeHead(status, { location: to }).end();
    else response.setHeader('content-type', 'application/json').end('{"id":1}');
  };
  const api = await openServer(answer);
  const other = await openServer(answer);
  const steady = createSteadfetch({
    apis: [
      {
        match: ({ origin }) => origin === api.origin || (isMatchingBoth && origin === other.origin),
        auth: refreshOn401({ headers: () => credentials, refresh: () => false }),
      },
    ],
  });
  onTestFinished(() => steady.dispose());
  const from = (to: string, status = 302) =>
    `${api.origin}/a?status=${status}&to=${encodeURIComponent(to)}`;
  return { api, other, steady, from };
}
const keyOf = ({ headers }: { readonly headers: object }): unknown =>
  (headers as Record<string, unknown>)['x-api-key'];

describe('in Node a custom credential header', () => {
  test.each([301, 302, 303, 307, 308])(
    'goes with a %i to the same origin, as often as that redirects',
    async (status) => {
      const { api, steady, from } = await open();
      const response = await steady.fetch(from(`/a?status=307&to=/b`, status));
      expect(await response.json()).toEqual({ id: 1 });
      expect(response.redirected).toBe(true);
      expect(response.url).toBe(`${api.origin}/b`);
      expect(api.arrived.map(keyOf)).toEqual(['secret', 'secret', 'secret']);
    },
  );

  test.each([301, 302, 303, 307, 308])('stays behind at a %i to another origin', async (status) => {
    const { api, other, steady, from } = await open();
    const response = await steady.fetch(from(`${other.origin}/b`, status));
    expect(await response.json()).toEqual({ id: 1 });
    expect(api.arrived.map(keyOf)).toEqual(['secret']);
    expect(other.arrived.map(keyOf)).toEqual([undefined]);
    expect(other.arrived[0]?.headers).not.toHaveProperty('authorization');
  });

  test('does not come back with a redirect back', async () => {
    const { api, other, steady, from } = await open();
    await steady.fetch(from(`${other.origin}/b?to=${encodeURIComponent(api.origin)}/c`));
    expect(api.arrived.map(keyOf)).toEqual(['secret', undefined]);
  });

  test('goes to another origin that match fits', async () => {
    const { other, steady, from } = await open(true);
    await steady.fetch(from(`${other.origin}/b`));
    expect(other.arrived.map(keyOf)).toEqual(['secret']);
  });

  test.each([
    [302, 'GET', ''],
    [303, 'GET', ''],
    [307, 'POST', '{"sku":"kite"}'],
    [308, 'POST', '{"sku":"kite"}'],
  ])('a POST that is answered %i goes on as a %s', async (status, method, body) => {
    const { api, steady, from } = await open();
    await steady.fetch(from('/b', status), { method: 'POST', body: '{"sku":"kite"}' });
    expect(api.arrived[1]).toMatchObject({ method, body: Buffer.from(body) });
  });

  test('ends where a server redirects for ever', async () => {
    const { api, steady } = await open();
    const loop = `${api.origin}/a?to=`;
    await expect(steady.fetch(loop)).rejects.toMatchObject({ code: 'http' });
    expect(api.arrived).toHaveLength(21);
  });

  test("goes with redirect: 'follow' wherever fetch takes it", async () => {
    const { other, steady, from } = await open();
    await steady.fetch(from(`${other.origin}/b`), { redirect: 'follow' });
    expect(other.arrived.map(keyOf)).toEqual(['secret']);
  });

  test.each(versions)('stays behind also with %s', async (_, axios) => {
    const { api, other, steady, from } = await open();
    const client = axios.create({ adapter: steadyAdapter(steady, axios), proxy: false });
    let count = 0;
    const beforeRedirect = (): void => void count++;
    await client.get(from('/b'), { beforeRedirect });
    await client.get(from(`${other.origin}/b`), { beforeRedirect });
    expect(api.arrived.map(keyOf)).toEqual(['secret', 'secret', 'secret']);
    expect(other.arrived.map(keyOf)).toEqual([undefined]);
    expect(other.arrived[0]?.headers).not.toHaveProperty('authorization');
    expect(count).toBe(2);
  });
});
