import { createSteadfetch, retry } from 'steadfetch';
import { expect, test, vi } from 'vitest';
import { answer, fakeServer, origin } from '../fetch/fake-server.ts';
import { fakeTime } from '../fetch/observe.ts';

test('what goes on after an outage and fails once more has spent no retry by that', async () => {
  fakeTime();
  const [down, up] = [answer(503), answer(200, '"a"')];
  // The first one trips and probes; the second one fails twice once the server is back.
  const server = fakeServer(down, down, up, down, down, up);
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5 });
  const ask = (maxRetries: number): Promise<unknown> =>
    retry(steady, ({ signal }) => steady.json(`${origin}/a`, { signal }), { maxRetries });
  const first = ask(2);
  await vi.advanceTimersByTimeAsync(600);
  const second = ask(1);
  await vi.advanceTimersByTimeAsync(30_000);
  await expect(Promise.all([first, second])).resolves.toEqual(['a', 'a']);
  steady.dispose();
});
