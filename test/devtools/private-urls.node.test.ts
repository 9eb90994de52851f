import { createSteadfetch } from 'steadfetch';
import { record } from 'steadfetch/devtools';
import { expect, test } from 'vitest';

const secret = 'c0ffee';

test.each([
  [`https://user:${secret}@api.example/a`, 'https://api.example/a'],
  [`https://api.example/a?token=${secret}`, 'https://api.example/a'],
  [`https://api.example/a#${secret}`, 'https://api.example/a'],
  [`/a?token=${secret}#${secret}`, '/a'],
  [`data:text/plain,${secret}`, 'data:'],
  [`blob:https://api.example/${secret}`, 'blob:'],
])('a recording of %s has no more of it than %s', async (url, recorded) => {
  const fetch = async (): Promise<Response> => new Response(secret, { status: 500 });
  const steady = createSteadfetch({ fetch });
  const recorder = record(steady);
  await steady.fetch(url, { headers: { authorization: secret } }).catch(() => {});
  const text = recorder.write();
  recorder.stop();
  steady.dispose();
  expect(text).not.toContain(secret);
  const urls = [...text.matchAll(/"url": "([^"]*)"/g)].map(([, one]) => one);
  expect(new Set(urls)).toEqual(new Set([recorded]));
});
