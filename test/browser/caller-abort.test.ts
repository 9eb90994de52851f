import { createSteadfetch, retry } from 'steadfetch';
import { expect, inject, test } from 'vitest';
import { bodyReaderEntries } from '../core/fetch/body-readers.ts';
import { rejectionOf } from '../core/fetch/observe.ts';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

const reasons: readonly (readonly [string, unknown])[] = [
  ['an Error', new Error('the user left')],
  ['a string', 'unmounted'],
  ['nothing', undefined],
  ['a TimeoutError of its own', new DOMException('signal timed out', 'TimeoutError')],
];

test.each(reasons)(
  'aborted with %s before the headers: that is what is thrown',
  async (_, reason) => {
    const controller = new AbortController();
    const { signal } = controller;
    const talk = openTalk(origin, 'hang');
    const thrown = rejectionOf(createSteadfetch().fetch(talk.url, { signal }));
    await talk.arrived(1);
    controller.abort(reason);
    expect(await thrown).toBe(signal.reason);
    expect((await talk.closed(1)).requests).toHaveLength(1);
  },
);

test.each(reasons)(
  'aborted with %s within the body: every reader throws that',
  async (_, reason) => {
    for (const timeout of [60_000, { headersMs: 60_000, bodyIdleMs: 60_000 }]) {
      for (const [name, read] of bodyReaderEntries) {
        const controller = new AbortController();
        const { signal } = controller;
        const talk = openTalk(origin, 'open');
        const response = await createSteadfetch().fetch(talk.url, { signal, timeout });
        const thrown = rejectionOf(read(response));
        controller.abort(reason);
        expect(await thrown, name).toBe(signal.reason);
        await talk.closed(1);
      }
    }
  },
);

test("a Request's own signal aborts, and init.signal of null takes it away", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const own = openTalk(origin, 'hang');
  const without = openTalk(origin, 'open');
  const thrown = rejectionOf(createSteadfetch().fetch(new Request(own.url, { signal })));
  const response = await createSteadfetch().fetch(new Request(without.url, { signal }), {
    signal: null,
  });
  await own.arrived(1);
  controller.abort('unmounted');
  expect(await thrown).toBe('unmounted');
  await without.tell('push', ':1}');
  await without.tell('end');
  expect(await response.json()).toEqual({ id: 1 });
});

test('aborted before the call, nothing is sent', async () => {
  const talk = openTalk(origin, 'ok');
  const thrown = rejectionOf(
    createSteadfetch().fetch(talk.url, { signal: AbortSignal.abort('unmounted') }),
  );
  expect(await thrown).toBe('unmounted');
  expect((await talk.log()).requests).toHaveLength(0);
});

test("the caller's own AbortSignal.timeout is not our TimeoutError", async () => {
  const talk = openTalk(origin, 'hang');
  const signal = AbortSignal.timeout(1);
  const error = await rejectionOf(createSteadfetch().fetch(talk.url, { signal }));
  expect(error).toBe(signal.reason);
  expect(error).toBeInstanceOf(DOMException);
});

test('retry aborted in an attempt sends nothing more', async () => {
  const controller = new AbortController();
  const talk = openTalk(origin, 'hang');
  const steady = createSteadfetch({ policy: { baseMs: 0 } });
  const thrown = rejectionOf(
    retry(steady, (context) => steady.fetch(talk.url, context), { signal: controller.signal }),
  );
  await talk.arrived(1);
  controller.abort('unmounted');
  expect(await thrown).toBe('unmounted');
  expect((await talk.closed(1)).requests).toHaveLength(1);
});
