import { watchConnectivity } from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type CheckOptions, sendCheck } from '../../../src/core/connectivity/check.ts';
import { systemClock, type Transport } from '../../../src/core/lib/clock.ts';
import { answer, fakeServer, type Handler, hang, refuse } from '../fetch/fake-server.ts';
import { fakeTime, observe } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = 'http://localhost:3000/here';
const send = (handler: Handler, options: Omit<CheckOptions, 'url'> = {}) =>
  sendCheck(systemClock, fakeServer(handler).fetch, { url, ...options });
const isEmpty: CheckOptions['expect'] = ({ status }) => status === 204;

describe('the check', () => {
  test('is a HEAD that no cache answers and no CORS stops', async () => {
    const transport = vi.fn<Transport>(async () => new Response());
    await sendCheck(systemClock, transport, { url });
    await sendCheck(systemClock, transport, { url, expect: () => true });
    expect(transport.mock.calls).toMatchObject([
      [url, { method: 'HEAD', cache: 'no-store', mode: 'no-cors' }],
      [url, { method: 'GET', cache: 'no-store', mode: 'cors' }],
    ]);
  });

  test.each<[CheckOptions['expect'], CheckOptions['method'], string]>([
    [undefined, undefined, 'HEAD'],
    [undefined, 'GET', 'GET'],
    [async (response) => (await response.text()) === 'here', undefined, 'GET'],
    [async (response) => (await response.text()) === '', 'HEAD', 'HEAD'],
    [({ status }) => status === 200, undefined, 'GET'],
  ])('with the expect %s and the method %s it is a %s', async (accept, method, sent) => {
    // As of a server: the answer to a HEAD has no body.
    const transport = vi.fn<Transport>(
      async (_url, init) => new Response(init?.method === 'HEAD' ? null : 'here'),
    );
    const check = { url, ...(accept && { expect: accept }), ...(method && { method }) };
    expect(await sendCheck(systemClock, transport, check)).toBe('reached');
    expect(transport.mock.calls[0]?.[1]?.method).toBe(sent);
  });

  test.each<[string, Handler, string | undefined]>([
    ['the page of a portal, or of an app without the file', answer(200, 'Welcome'), 'answered 200'],
    ['the answer of a portal', answer(511), 'answered 511'],
    ['an error of a server', answer(503), undefined],
    ['no answer', refuse, undefined],
  ])('%s: a portal is assumed only with a warning, once', async (_name, handler, what) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const check = { url: '/here?token=1', expect: isEmpty };
    for (let count = 0; count < 2; count++)
      await sendCheck(systemClock, fakeServer(handler).fetch, check);
    const warnings = warn.mock.calls.map(([text]) => String(text));
    warn.mockRestore();
    expect(warnings).toEqual(
      what === undefined
        ? []
        : [
            `[steadfetch] watchConnectivity: the check /here ${what}, which its expect does not accept. So a captive portal is ` +
              `assumed, and the app is offline. If there is no portal, correct the URL of the check or its expect. See ` +
              `node_modules/steadfetch/docs/connectivity.md#anti-patterns.`,
          ],
    );
  });

  test.each([
    ['/here', 'http://localhost:3000/here'],
    ['here.txt', 'http://localhost:3000/here.txt'],
    ['https://cdn.example/here', 'https://cdn.example/here'],
  ])('%s is a URL of the page, whatever its <base> says', async (given, sent) => {
    const base = document.createElement('base');
    base.href = 'https://elsewhere.example/';
    document.head.append(base);
    const transport = vi.fn<Transport>(async () => new Response());
    await sendCheck(systemClock, transport, { url: given });
    base.remove();
    expect(transport.mock.calls[0]?.[0]).toBe(sent);
  });

  test.each<[string, Handler, Omit<CheckOptions, 'url'>, string]>([
    ['any answer reaches', answer(200), {}, 'reached'],
    ['also one with an error', answer(503), {}, 'reached'],
    ['no answer fails', refuse, {}, 'failed'],
    ['the expected answer reaches', answer(204), { expect: isEmpty }, 'reached'],
    ['another one is a portal', answer(200, 'Welcome'), { expect: isEmpty }, 'captive'],
    ['so is 511, Network Authentication Required', answer(511), { expect: isEmpty }, 'captive'],
    ['an error is the answer of a server', answer(503), { expect: isEmpty }, 'reached'],
    [
      'the body can be asked',
      answer(200, 'Welcome'),
      { expect: async (response) => (await response.text()) === 'here' },
      'captive',
    ],
    [
      'what throws is not as expected',
      answer(200, 'Welcome'),
      { expect: async (response) => ((await response.json()) as { ok: boolean }).ok },
      'captive',
    ],
  ])('%s', async (_name, handler, options, result) => {
    expect(await send(handler, options)).toBe(result);
  });

  test.each<[string, Transport, CheckOptions['expect']]>([
    ['expect never answers', async () => new Response(), () => new Promise(() => {})],
    ['the transport does not heed its signal', () => new Promise(() => {}), undefined],
    [
      'the body never ends',
      async () => new Response(new ReadableStream()),
      async (response) => (await response.text()) === 'here',
    ],
  ])('it has failed after its limit, also where %s', async (_name, transport, expect_) => {
    const sent = observe(sendCheck(systemClock, transport, { url, expect: expect_ }));
    await vi.advanceTimersByTimeAsync(4999);
    expect(sent.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect(sent.value).toBe('failed');
  });

  test('a body that breaks off is the network’s doing, and no portal', async () => {
    const body = new ReadableStream({
      start: (controller) => controller.error(new TypeError('network error')),
    });
    const transport: Transport = async () => new Response(body);
    const isHere: CheckOptions['expect'] = async (response) => (await response.text()) === 'here';
    expect(await sendCheck(systemClock, transport, { url, expect: isHere })).toBe('failed');
  });

  test('a redirect is a portal where an answer is expected, and else an answer', async () => {
    const redirects: unknown[] = [];
    const transport: Transport = async (_url, init) => {
      redirects.push(init?.redirect);
      const response = new Response();
      if (init?.redirect === 'manual')
        Object.defineProperty(response, 'type', { value: 'opaqueredirect' });
      return response;
    };
    expect(await sendCheck(systemClock, transport, { url, expect: () => true })).toBe('captive');
    expect(await sendCheck(systemClock, transport, { url })).toBe('reached');
    expect(redirects).toEqual(['manual', 'follow']);
  });

  test('one that hangs has failed after five seconds, or after its own limit', async () => {
    const usual = observe(send(hang));
    const short = observe(send(hang, { timeoutMs: 100 }));
    await vi.advanceTimersByTimeAsync(99);
    expect(short.state).toBe('pending');
    await vi.advanceTimersByTimeAsync(1);
    expect([short.value, usual.state]).toEqual(['failed', 'pending']);
    await vi.advanceTimersByTimeAsync(4900);
    expect(usual.value).toBe('failed');
  });
});

describe('an option that is not as it must be', () => {
  test.each<[unknown, string]>([
    [
      { chek: false },
      'chek is false, and must be left out: the options are check, source: did you mean check?',
    ],
    [{ check: true }, 'check.url is undefined, and must be a URL'],
    [{ check: 'https://[' }, "check.url is 'https://[', and must be a URL"],
    [{ check: {} }, 'check.url is undefined, and must be a URL'],
    [{ check: { url: '' } }, "check.url is '', and must be a URL"],
    [{ check: { url: 'https://[' } }, "check.url is 'https://[', and must be a URL"],
    [{ check: { url, method: 'POST' } }, "check.method is 'POST', and must be HEAD or GET"],
    [
      { check: { url, timeoutMs: 0 } },
      'check.timeoutMs is 0, and must be a number from 1 to 60000',
    ],
    [{ check: { url, expect: 204 } }, 'check.expect is 204, and must be a function'],
    [
      { check: { url, every: 1 } },
      'check: every is 1, and must be left out: the options are url, method, timeoutMs, expect',
    ],
  ])('%j', (options, message) => {
    expect(() => watchConnectivity(options as object)).toThrow(
      new TypeError(`watchConnectivity: ${message}.`),
    );
  });

  test.each([{}, { check: false }, { check: undefined }, { check: { url, timeoutMs: undefined } }])(
    'one that is left out is none: %j',
    (options) => {
      const make = () => watchConnectivity(options as object);
      expect(make).not.toThrow();
    },
  );
});
