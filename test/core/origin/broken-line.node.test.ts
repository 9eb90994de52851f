import { createSteadfetch, retry } from 'steadfetch';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import { expect, onTestFinished, test, vi } from 'vitest';
import { answer, fakeServer, origin } from '../fetch/fake-server.ts';
import { fakeTime } from '../fetch/observe.ts';

fakeTime();

/** As a frame that may store nothing has it. */
function RefusedChannel(): never {
  throw new DOMException('The operation is insecure.', 'SecurityError');
}

class ClosedChannel extends EventTarget {
  postMessage(): never {
    throw new DOMException('The channel is closed.', 'InvalidStateError');
  }
  close(): void {}
}

test.each([
  ['refused', RefusedChannel],
  ['closed by the browser', ClosedChannel],
])('where the line to the other tabs is %s, this tab works alone', async (_what, Channel) => {
  vi.stubGlobal('BroadcastChannel', Channel);
  onTestFinished(() => void vi.unstubAllGlobals());
  const down = answer(503);
  const server = fakeServer(down, down, down, () => Response.json('done'));
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5 });
  const handlers = {
    note: outboxHandler({
      mutationFn: (_: number, { json }) => json(`${origin}/note`, { method: 'PUT', json: 1 }),
    }),
  };
  const outbox = createOutbox({ steady, handlers });
  const read = retry(steady, ({ signal }) => steady.fetch(`${origin}/a`, { signal }));
  await vi.advanceTimersByTimeAsync(30_000);
  expect((await read).status).toBe(200);
  const { delivered } = outbox.submit('note', 1);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await delivered).toBe('done');
  outbox.dispose();
  steady.dispose();
});
