import type { ActionState } from 'steadfetch/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ActionForm, openActionForm } from '../../../src/core/form/action-form.ts';

type State = ActionState<string>;

const fieldsOf = (key: string, article = 'lamp'): FormData => {
  const fields = new FormData();
  fields.append('idempotency-key', key);
  fields.append('article', article);
  return fields;
};
const done = (data: string): State => ({
  status: 'succeeded',
  data,
  isReplayed: false,
  key: 'next',
  submission: 'k1',
});
const unknown: State = { status: 'unknown', key: 'k1', fields: {} };

let name: string;
let form: ActionForm;

beforeEach(() => {
  vi.useFakeTimers();
  // Each wait is three quarters of its step: the first is 375 ms.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  // A form lasts as long as its page: each test has one of its own.
  name = `checkout ${crypto.randomUUID()}`;
  form = new ActionForm(name);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A server that answers each submission with its article, or as the test says. */
function serve(answer: (article: string, call: number) => State | Promise<State> = done) {
  const sent: string[] = [];
  const call = async (fields: FormData): Promise<State> => {
    const article = fields.get('article') as string;
    sent.push(`${fields.get('idempotency-key') as string} ${article}`);
    return answer(article, sent.length);
  };
  return { sent, call };
}

const fire = (type: string, persisted = false): boolean =>
  window.dispatchEvent(Object.assign(new Event(type), { persisted }));
const stored = (): unknown =>
  JSON.parse(sessionStorage.getItem(`steadfetch.form.\0${name}`) ?? 'null');

test('a form of one name is one form of the tab', () => {
  expect(openActionForm(name)).toBe(openActionForm(name));
  expect(openActionForm(`${name}, another`)).not.toBe(openActionForm(name));
});

test('the tab keeps the key while it is unknown, and then what was sent under it', async () => {
  const { call } = serve();
  const state = form.send(fieldsOf('k1'), call);
  await vi.advanceTimersByTimeAsync(0);
  await state;
  expect(stored()).toEqual({ used: [['k1', expect.stringMatching(/^[\da-f]{32}$/)]] });
});

test('the tab keeps the last fifty keys', async () => {
  const { call } = serve();
  for (let nth = 0; nth <= 50; nth++) await form.send(fieldsOf(`k${nth}`, `${nth}`), call);
  const { used } = stored() as { used: readonly (readonly [string])[] };
  expect(used.map(([key]) => key)).toEqual(Array.from({ length: 50 }, (_, nth) => `k${nth + 1}`));
});

test.each([
  ['9.999 seconds', 9999, ['k1 lamp']],
  ['ten seconds', 10_000, ['k1 lamp', 'k2 lamp']],
])(
  'a press that is %s old when it is sent counts or not, also where the app stops its event',
  async (_, oldMs, all) => {
    const { sent, call } = serve();
    const element = document.body.appendChild(document.createElement('form'));
    element.addEventListener('submit', (event) => event.stopPropagation());
    await form.send(fieldsOf('k1'), call);
    await vi.advanceTimersByTimeAsync(999);
    element.dispatchEvent(new Event('submit', { bubbles: true }));
    element.remove();
    await vi.advanceTimersByTimeAsync(oldMs);
    await form.send(fieldsOf('k2'), call);
    expect(sent).toEqual(all);
  },
);

test.each([
  [9999, ['k1 lamp']],
  [10_000, ['k1 lamp', 'k2 lamp']],
])(
  'where the clock is set back by %i ms, a press belongs to an answer, or no longer',
  async (byMs, all) => {
    const { sent, call } = serve();
    await form.send(fieldsOf('k1'), call);
    vi.setSystemTime(Date.now() - byMs);
    await form.send(fieldsOf('k2'), call);
    expect(sent).toEqual(all);
  },
);

test.each([
  [60_000, 'k1'],
  [60_001, undefined],
])(
  'a key that the browser has sent without JavaScript %i ms ago has %s as unknown',
  (agoMs, key) => {
    const kept = { unknown: 'k1', sentAt: Date.now() - agoMs };
    sessionStorage.setItem(`steadfetch.form.\0${name}`, JSON.stringify(kept));
    expect([form.unknownKey(), form.keyFor('k2')]).toEqual([key, key ?? 'k2']);
  },
);

test('a page that is left while a press is under way, or after it was not found out, keeps its key as unknown', async () => {
  const { call } = serve(() => Promise.reject(new TypeError('cut')));
  const state = form.send(fieldsOf('k1'), call, { maxRetries: 1 });
  await vi.advanceTimersByTimeAsync(0);
  fire('pagehide');
  expect([form.unknownKey(), new ActionForm(name).unknownKey()]).toEqual([undefined, 'k1']);
  fire('pageshow');
  await vi.advanceTimersByTimeAsync(375);
  expect(await state).toEqual(unknown);
  fire('pagehide');
  expect([form.unknownKey(), new ActionForm(name).unknownKey()]).toEqual(['k1', 'k1']);
});

test('who watches is told when an answer has come, when the page comes back, and when another page knows it', async () => {
  const changed = vi.fn<() => void>();
  const unsubscribe = form.subscribe(changed);
  const { call } = serve(() => Promise.reject(new TypeError('cut')));
  await form.send(fieldsOf('k1'), call, { maxRetries: 0 });
  expect(changed).toHaveBeenCalledTimes(1);
  fire('pageshow');
  expect(changed).toHaveBeenCalledTimes(2);
  form.recordAnswer('k0');
  expect(changed).toHaveBeenCalledTimes(2);
  expect(form.unknownKey()).toBe('k1');
  form.recordAnswer('k1');
  expect(changed).toHaveBeenCalledTimes(3);
  expect(form.unknownKey()).toBe(undefined);
  unsubscribe();
  fire('pageshow');
  expect(changed).toHaveBeenCalledTimes(3);
});

test('the end of a press does not end the next one', async () => {
  const answers: ((state: State) => void)[] = [];
  const { sent, call } = serve(() => new Promise((resolve) => void answers.push(resolve)));
  const first = form.send(fieldsOf('k1', 'lamp'), call);
  const second = form.send(fieldsOf('k2', 'chair'), call);
  await vi.advanceTimersByTimeAsync(0);
  answers[0]?.(done('lamp'));
  await first;
  await vi.advanceTimersByTimeAsync(5000);
  const third = form.send(fieldsOf('k2', 'chair'), call);
  await vi.advanceTimersByTimeAsync(0);
  answers[1]?.(done('chair'));
  expect(await Promise.all([second, third])).toEqual([done('chair'), done('chair')]);
  expect(sent).toEqual(['k1 lamp', 'k2 chair']);
});

test('what the server does not know is sent again under the same key, and is known then', async () => {
  const { sent, call } = serve((article, nth) => (nth === 1 ? unknown : done(article)));
  const state = form.send(fieldsOf('k1'), call);
  await vi.advanceTimersByTimeAsync(375);
  expect(await state).toEqual(done('lamp'));
  expect(sent).toEqual(['k1 lamp', 'k1 lamp']);
  expect(form.unknownKey()).toBe(undefined);
});

test('what the server does not know to the end stays unknown, also for other content', async () => {
  const { sent, call } = serve(() => unknown);
  expect(await form.send(fieldsOf('k1'), call, { maxRetries: 0 })).toEqual(unknown);
  expect(form.unknownKey()).toBe('k1');
  await form.send(fieldsOf('k2', 'chair'), call, { maxRetries: 0 });
  expect(sent).toEqual(['k1 lamp', 'k1 chair']);
});

test('a page that was gone back to sends the same under its key, whatever was sent since', async () => {
  const { sent, call } = serve();
  for (const [key, article] of [
    ['k1', 'lamp'],
    ['k2', 'chair'],
    ['k1', 'lamp'],
  ] as const) {
    await form.send(fieldsOf(key, article), call);
    await vi.advanceTimersByTimeAsync(5000);
  }
  expect(sent).toEqual(['k1 lamp', 'k2 chair', 'k1 lamp']);
});

test('a page that was not found has used up no key', async () => {
  const notFound = Object.assign(new Error('no'), { digest: 'NEXT_HTTP_ERROR_FALLBACK;404' });
  const { sent, call } = serve(() => Promise.reject(notFound));
  await expect(form.send(fieldsOf('k1'), call)).rejects.toBe(notFound);
  expect(form.unknownKey()).toBe(undefined);
  await expect(form.send(fieldsOf('k1', 'chair'), call)).rejects.toBe(notFound);
  expect(sent).toEqual(['k1 lamp', 'k1 chair']);
});

test('a page that is put away is told so while a call is under way, and not after it', async () => {
  const putAway = vi.fn<() => void>();
  let answer: (state: State) => void = () => {};
  const { call } = serve(() => new Promise((resolve) => (answer = resolve)));
  const state = form.send(fieldsOf('k1'), call, {}, putAway);
  await vi.advanceTimersByTimeAsync(0);
  fire('pageshow', true);
  expect(putAway).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(375);
  answer(done('lamp'));
  expect(await state).toEqual(done('lamp'));
  fire('pageshow', true);
  expect(putAway).toHaveBeenCalledTimes(1);
});

test('an answer does not make the lost one of a later press under its key a known one', async () => {
  let answers = 0;
  const { call } = serve(() => (answers++ ? Promise.reject(new TypeError('cut')) : done('k1')));
  await form.send(fieldsOf('k1'), call);
  await vi.advanceTimersByTimeAsync(1000);
  const state = form.send(fieldsOf('k1'), call, { maxRetries: 1 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await state).toEqual(unknown);
  expect(new ActionForm(name).unknownKey()).toBe('k1');
});

test('a press without a key does not make the lost answer before it a known one', async () => {
  const { call } = serve(() => Promise.reject(new TypeError('cut')));
  const state = form.send(fieldsOf('k1'), call, { maxRetries: 1 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await state).toEqual(unknown);
  const pressed = form.send(new FormData(), call);
  await expect(pressed).rejects.toThrow(TypeError);
  fire('pagehide');
  expect(new ActionForm(name).unknownKey()).toBe('k1');
});
