import { createServer } from 'node:http';
import { Window } from 'happy-dom';
import { createSteadfetch, type Steadfetch } from 'steadfetch';
import { expect, onTestFinished, test, vi } from 'vitest';
import { sendCheck } from '../../../src/core/connectivity/check.ts';
import { systemClock, systemTransport } from '../../../src/core/lib/clock.ts';
import { listen } from './loopback.ts';

// Node's fetch refuses the signals of a DOM that is written in JavaScript. Vitest 3 and other runners make those of jsdom
// global. A `fetch` without a signal, as most apps write it, is answered there.
const { AbortController, AbortSignal } = new Window() as unknown as typeof globalThis;

async function open(): Promise<string> {
  vi.stubGlobal('AbortController', AbortController);
  vi.stubGlobal('AbortSignal', AbortSignal);
  onTestFinished(() => void vi.unstubAllGlobals());
  return listen(
    createServer((request, response) => {
      if (request.url !== '/hang')
        response.setHeader('content-type', 'application/json').end('"ok"');
    }),
  );
}

const requests: Readonly<Record<string, (steady: Steadfetch, url: string) => Promise<unknown>>> = {
  'steady.json': (steady, url) => steady.json(url),
  'steady.json with a body': (steady, url) => steady.json(url, { method: 'PUT', json: { id: 1 } }),
  'steady.json with a signal': (steady, url) =>
    steady.json(url, { signal: new AbortController().signal }),
  'steady.fetch of a Request': async (steady, url) => (await steady.fetch(new Request(url))).json(),
  'steady.rawFetch': async (steady, url) => (await steady.rawFetch(url)).json(),
};

test.each(Object.entries(requests))(
  '%s is answered where fetch refuses the signals of the environment',
  async (_name, send) => {
    const url = await open();
    await expect(fetch(url, { signal: new AbortController().signal })).rejects.toThrow(
      'to be an instance of AbortSignal',
    );
    expect(await send(createSteadfetch(), url)).toBe('ok');
  },
);

test('so is the check of connectivity', async () => {
  const url = await open();
  expect(await sendCheck(systemClock, systemTransport, { url })).toBe('reached');
});

test('an abort ends a request there, and so does its time limit', async () => {
  const url = await open();
  const steady = createSteadfetch();
  const controller = new AbortController();
  const aborted = steady.json(`${url}/hang`, { signal: controller.signal });
  controller.abort('left');
  await expect(aborted).rejects.toBe('left');
  const late = steady.json(`${url}/hang`, { policy: { timeout: 20 } });
  await expect(late).rejects.toMatchObject({ code: 'timeout' });
});
