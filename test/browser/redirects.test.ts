import { createSteadfetch, outcomeOf, refreshOn401 } from 'steadfetch';
import { expect, inject, onTestFinished, test } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import { openTalk } from './talk.ts';

const [origin, other] = inject('origins');

/** An API that redirects to another origin. */
function open(headers: Readonly<Record<string, string>>) {
  const target = openTalk(other, 'ok');
  const talk = openTalk(origin, 'redirect-to-other');
  const steady = createSteadfetch({
    apis: [{ match: origin, auth: refreshOn401({ headers: () => headers, refresh: () => false }) }],
  });
  onTestFinished(() => steady.dispose());
  return { steady, target, url: `${talk.url}&other=${encodeURIComponent(target.url)}` };
}

test('a custom credential header follows no redirect of a browser, and the error names the remedy', async () => {
  const { steady, target, url } = open({ 'x-api-key': 'secret' });
  const error = await rejectionOf(steady.fetch(url));
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).toContain('send the credentials in Authorization');
  expect(outcomeOf(error)).toEqual({ kind: 'invalid', processed: 'no' });
  expect((await target.log()).requests).toEqual([]);
});

test("with redirect: 'follow' it goes wherever the browser takes it", async () => {
  const { steady, target, url } = open({ 'x-api-key': 'secret' });
  await steady.fetch(url, { redirect: 'follow' });
  const [request] = (await target.log()).requests;
  expect(request?.headers['x-api-key']).toBe('secret');
});

test('the browser takes off Authorization, and so follows the redirect', async () => {
  const { steady, target, url } = open({ authorization: 'Bearer secret' });
  await steady.fetch(url);
  const [request] = (await target.log()).requests;
  expect(request?.headers).not.toHaveProperty('authorization');
});
