import {
  conditionalWrites,
  createSteadfetch,
  defineIdempotency,
  refreshOn401,
  type SteadfetchConfig,
  type SteadyInit,
  type Transport,
  watchConnectivity,
} from 'steadfetch';
import { duplicateDelivery, loseAnswer, withoutCors } from 'steadfetch/testing';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { sendCheck } from '../../../src/core/connectivity/check.ts';
import { systemClock } from '../../../src/core/lib/clock.ts';
import { origin, streaming } from './fake-server.ts';
import { fakeTime, observe } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/notes/1`;
const elsewhere = 'https://api.example/notes/1';
const advance = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** An answer whose body never ends. */
interface Endless {
  readonly response: Response;
  readonly isCancelled: () => boolean;
}

function endless(status = 200, headers: HeadersInit = {}): Endless {
  const cancel = vi.fn<() => void>();
  const body = new ReadableStream({ cancel }, { highWaterMark: 0 });
  const response = new Response(body, { status, headers });
  return { response, isCancelled: () => cancel.mock.calls.length > 0 };
}

/** Answers in turn, and does not heed its signal. */
function deafServer(...answers: readonly (Response | Promise<Response>)[]): Transport {
  let count = 0;
  return async () => answers[count++] as Response;
}

const late = (response: Response, ms: number): Promise<Response> =>
  new Promise((resolve) => setTimeout(() => resolve(response), ms));

async function send(
  fetch: Transport,
  config: SteadfetchConfig = {},
  init: SteadyInit = {},
  target = url,
): Promise<void> {
  const steady = createSteadfetch({ fetch, random: () => 0.5, ...config });
  onTestFinished(() => steady.dispose());
  const call = observe(steady.fetch(target, init));
  await advance(30_000);
  expect(call.state).not.toBe('pending');
}

const write: SteadyInit = { method: 'PATCH', body: 'b', headers: { 'if-match': '"1"' } };
const conditional = (wasOurs: () => unknown): SteadfetchConfig => ({
  apis: [{ match: origin, conditional: conditionalWrites({ wasOurs: wasOurs as () => boolean }) }],
});
const ok = (): Response => new Response(null, { status: 204 });

const check = (fetch: Transport, more: object = {}): Promise<unknown> => {
  const checked = sendCheck(systemClock, fetch, { url, method: 'GET', ...more });
  return Promise.all([checked, advance(10_000)]);
};
const fault = { request: new Request(url) };

/** A download that breaks off as the user leaves a page that stays; its request is sent again. */
async function breakOff(next: Response): Promise<void> {
  const { handler, wire } = streaming();
  const first = handler(new Request(url));
  const fetch = deafServer(await first, next);
  const steady = createSteadfetch({ fetch, random: () => 0.5, connectivity: watchConnectivity() });
  onTestFinished(() => steady.dispose());
  const body = observe((await steady.fetch(url)).text());
  window.dispatchEvent(new Event('beforeunload'));
  wire.cut(new TypeError('network error'));
  await advance(1000);
  expect(body.state).toBe('rejected');
}

const signed = (refresh: () => Promise<boolean>): SteadfetchConfig => ({
  apis: [
    {
      match: 'https://api.example',
      auth: refreshOn401({ headers: () => ({ token: 'a' }), refresh }),
    },
  ],
});

test.each<readonly [string, number, (dropped: Response) => Promise<unknown>]>([
  [
    'after the time limit of its attempt',
    200,
    (dropped) => send(deafServer(late(dropped, 20_000))),
  ],
  [
    'of another status, where a broken body was to be read again',
    206,
    (dropped) => breakOff(dropped),
  ],
  [
    'that redirects, and is followed',
    307,
    (dropped) =>
      send(
        deafServer(dropped, ok()),
        signed(async () => true),
        {},
        elsewhere,
      ),
  ],
  [
    'to a redirect that was followed, after the time limit',
    200,
    (dropped) => {
      const moved = new Response(null, { status: 307, headers: { location: elsewhere } });
      return send(
        deafServer(moved, late(dropped, 20_000)),
        signed(async () => true),
        {},
        elsewhere,
      );
    },
  ],
  [
    'that is a 401, where its request is sent again',
    401,
    (dropped) =>
      send(
        deafServer(dropped, ok()),
        signed(async () => true),
        {},
        elsewhere,
      ),
  ],
  [
    'that is a 401, where the caller aborts meanwhile',
    401,
    (dropped) => {
      const caller = new AbortController();
      setTimeout(() => caller.abort(), 1000);
      const config = signed(() => new Promise(() => {}));
      return send(deafServer(dropped), config, { signal: caller.signal }, elsewhere);
    },
  ],
  [
    'that refuses a write which was ours',
    412,
    (dropped) =>
      send(
        deafServer(dropped),
        conditional(() => true),
        write,
      ),
  ],
  [
    'of the app about a write, after the time limit',
    200,
    (dropped) => {
      const refusal = new Response(null, { status: 412 });
      return send(
        deafServer(refusal),
        conditional(() => late(dropped, 20_000)),
        write,
      );
    },
  ],
  ['to a check that any answer passes', 200, (dropped) => check(deafServer(dropped))],
  [
    'to a check that is an error',
    503,
    (dropped) => check(deafServer(dropped), { expect: () => true }),
  ],
  ['to a check, after its time limit', 200, (dropped) => check(deafServer(late(dropped, 8000)))],
  ['that a fault loses', 200, (dropped) => loseAnswer(async () => dropped)(fault)],
  ['that a fault hides', 200, (dropped) => withoutCors(async () => dropped)(fault)],
  [
    'to the first of two deliveries',
    200,
    (dropped) => {
      const answers = [dropped, ok()];
      return duplicateDelivery(async () => answers.shift())(fault);
    },
  ],
])('the body of an answer %s is cancelled', async (_name, status, run) => {
  const { response, isCancelled } = endless(status, { location: elsewhere });
  await run(response);
  await advance(0);
  expect(isCancelled()).toBe(true);
});

test('a copy that alreadyDone of an API does not read keeps nothing of it: to cancel the answer is to cancel its source', async () => {
  const { response, isCancelled } = endless(409);
  const idempotency = defineIdempotency({ header: 'key', alreadyDone: () => true });
  const steady = createSteadfetch({
    fetch: deafServer(response),
    apis: [{ match: origin, idempotency }],
  });
  onTestFinished(() => steady.dispose());
  const answer = await steady.fetch(url, { method: 'POST', headers: { key: 'k' } });
  expect(isCancelled()).toBe(false);
  void answer.body?.cancel();
  await advance(0);
  expect(isCancelled()).toBe(true);
});
