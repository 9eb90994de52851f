import { createSteadfetch, retry } from 'steadfetch';
import { expect, test, vi } from 'vitest';

test('on a server an instance may write for several users, whose writes to one URL are apart', async () => {
  const sent: unknown[] = [];
  vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
    sent.push(init.body);
    return Promise.resolve(new Response('{}', { status: sent.length === 1 ? 503 : 200 }));
  });
  const steady = createSteadfetch({ random: () => 0 });
  const save = (body: string) =>
    retry(
      steady,
      ({ signal }) => steady.fetch('http://api.test/me', { method: 'PUT', body, signal }),
      {
        backoff: 'none',
        baseMs: 1,
        fastRetryMs: 1,
      },
    );
  await Promise.all([save('of one'), save('of another')]);
  expect(sent).toEqual(['of one', 'of another', 'of one']);
});
