import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSteadfetch, type Timeout } from 'steadfetch';
import { expect, test } from 'vitest';
import { observe } from './observe.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test.each<Timeout>([Infinity, { headersMs: Infinity, bodyIdleMs: 1000 }])(
  'a body that nobody reads, under a limit of %j, leaves nothing on the signal of its caller',
  async (timeout) => {
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    Object.assign(signal, {
      addEventListener: (...given: Parameters<typeof add>) => (listeners++, add(...given)),
      removeEventListener: (...given: Parameters<typeof remove>) => (listeners--, remove(...given)),
    });
    const steady = createSteadfetch({ fetch: async () => new Response(new ReadableStream()) });
    const ask = async (): Promise<void> =>
      void (await steady.fetch('http://api.example/', { signal, timeout }));
    for (let count = 0; count < 10; count++) await ask();
    expect(listeners).toBe(10);
    while (listeners > 0) {
      collect();
      await turn();
    }
  },
);

test('a body that was begun and is dropped takes no connection from the requests behind it', async () => {
  const parts = (): ReadableStream<Uint8Array> =>
    new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
  const steady = createSteadfetch({
    fetch: (input) =>
      (input as string).endsWith('/parts')
        ? Promise.resolve(new Response(parts()))
        : new Promise(() => {}),
  });
  const begin = async (): Promise<void> => {
    const timeout = { headersMs: Infinity, bodyIdleMs: Infinity };
    const { body } = await steady.fetch('http://api.example/parts', { timeout });
    await body?.getReader().read();
  };
  for (let count = 0; count < 6; count++) await begin();
  const behind = observe(steady.fetch('http://api.example/hangs', { timeout: 1 }));
  while (behind.state === 'pending') {
    collect();
    await turn();
  }
  expect(behind.error).toMatchObject({ code: 'timeout' });
});
