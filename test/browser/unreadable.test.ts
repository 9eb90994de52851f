import { createSteadfetch, retry, type Steadfetch } from 'steadfetch';
import { beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import type { AnswerName } from './answers.ts';
import { openTalk, type Talk } from './talk.ts';

const [origin, other] = inject('origins');
const policy = { baseMs: 10, maxPauseMs: 500 };

let heads: string[] = [];
let said: string[] = [];
beforeEach(() => {
  heads = [];
  said = [];
  const real = globalThis.fetch;
  const spies = [
    vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
      if (init?.method === 'HEAD') heads.push(`${input as string} ${init.mode}`);
      return real(input, init);
    }),
    vi.spyOn(console, 'warn').mockImplementation((text: string) => void said.push(text)),
  ];
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
});

function create(config: Parameters<typeof createSteadfetch>[0] = {}): Steadfetch {
  const steady = createSteadfetch({ policy, ...config });
  onTestFinished(() => steady.dispose());
  return steady;
}

const send = (steady: Steadfetch, url: string): Promise<Response> =>
  retry(steady, ({ signal }) => steady.fetch(url, { signal }));

/** The second origin, which sends no CORS headers either. */
const open = (...answers: readonly [AnswerName, ...AnswerName[]]): Talk => {
  const talk = openTalk(origin, ...answers);
  const login = openTalk(other, 'unavailable-without-cors').url;
  return { ...talk, url: `${talk.url}&other=${encodeURIComponent(login)}` };
};

const unreadable = { code: 'network', outcome: { kind: 'network', processed: 'unknown' } };

test.each(['login-elsewhere', 'unavailable-without-cors'] as const)(
  'with "%s" a query ends after maxRetries with an error that says so, and nothing else is paused',
  async (answer) => {
    const steady = create();
    const talk = open(answer);
    const error = await rejectionOf(send(steady, talk.url));
    expect(error).toMatchObject(unreadable);
    expect((error as Error).message).toMatch(/^The server answers, but its answer may not be read/);
    expect((await talk.log()).requests).toHaveLength(4);
    expect(heads).toEqual([`${origin}/ no-cors`]);
    expect(said.filter((text) => text.includes('expired session'))).toHaveLength(1);

    const pauses = vi.fn<() => void>();
    steady.subscribe((event) => void (event.type === 'pause:start' && pauses()));
    const again = open(answer);
    expect(await rejectionOf(send(steady, again.url))).toMatchObject(unreadable);
    expect((await again.log()).requests).toHaveLength(4);
    expect((await send(steady, open('ok').url)).status).toBe(200);
    expect(pauses).not.toHaveBeenCalled();
    expect(heads).toHaveLength(1);
  },
);

test('what many endpoints do at once is asked about once', async () => {
  const steady = create();
  const urls = Array.from({ length: 8 }, (_, index) =>
    open('login-elsewhere').url.replace('/talk/', `/talk/${'abcdefgh'[index]}`),
  );
  const errors = await Promise.all(urls.map((url) => rejectionOf(send(steady, url))));
  expect(errors.map((error) => (error as { code?: string }).code)).toEqual(
    urls.map(() => 'network'),
  );
  expect(heads).toHaveLength(1);
});

/** It has failed, and was then waited for, for as long as it may be. */
const waited = { decision: { reason: 'paused-too-long' } };

test('a server that is gone is down, and waited for, after one question', async () => {
  const steady = create();
  // Nothing listens there.
  const error = await rejectionOf(send(steady, 'http://127.0.0.1:9999/items'));
  expect(error).toMatchObject(waited);
  expect(heads).toEqual(['http://127.0.0.1:9999/ no-cors']);
});

test.each<[string, readonly [AnswerName, ...AnswerName[]]]>([
  ['that can be read', ['unavailable']],
  ['of which one can be read', ['reset', 'unavailable', 'reset']],
])('an outage with errors %s is one, and nothing is asked', async (_, answers) => {
  const steady = create();
  expect(await rejectionOf(send(steady, open(...answers).url))).toMatchObject(waited);
  expect(heads).toEqual([]);
});

test('a fetch of the app itself is not asked', async () => {
  const fetch = vi.fn<typeof globalThis.fetch>(() => Promise.reject(new TypeError('Failed')));
  const steady = create({ fetch });
  expect(await rejectionOf(send(steady, `${origin}/items`))).toMatchObject(waited);
  expect(heads).toEqual([]);
  expect(fetch.mock.calls.every(([, init]) => init?.method !== 'HEAD')).toBe(true);
});

test('what can be read again is read, and a real outage after it is one', async () => {
  const steady = create();
  await rejectionOf(send(steady, open('login-elsewhere').url));
  expect((await send(steady, open('ok').url)).status).toBe(200);
  const error = await rejectionOf(send(steady, open('unavailable').url));
  expect(error).toMatchObject(waited);
});
