import { expect, inject, onTestFinished, test } from 'vitest';
import { openTalk } from './talk.ts';

// What a second attempt beside the first would meet (docs/storms/hedging.md).

const [origin] = inject('origins');

/** How many of two simultaneous reads of one URL have reached the server, of which the first hangs. */
async function arrivedOf(init: RequestInit): Promise<number> {
  const talk = openTalk(origin, 'hang', 'ok');
  const first = new AbortController();
  onTestFinished(() => first.abort());
  fetch(talk.url, { ...init, signal: first.signal }).catch(() => {});
  await talk.arrived(1);
  const second = fetch(talk.url, { ...init, signal: first.signal }).catch(() => {});
  await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 1000))]);
  return (await talk.log()).requests.length;
}

test('a second read of a URL waits in the browser for the first', async () => {
  expect(await arrivedOf({})).toBe(1);
});

test('past the cache of the browser, it goes', async () => {
  expect(await arrivedOf({ cache: 'no-store' })).toBe(2);
});
