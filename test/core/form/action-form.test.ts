import { redirect as redirectInRouter } from '@tanstack/react-router';
import { sendAction } from 'steadfetch/react';
import type { ActionState } from 'steadfetch/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ActionForm } from '../../../src/core/form/action-form.ts';
import { actedAt } from '../../../src/core/lib/browser/page.ts';

type State = ActionState<number>;

const fieldsOf = (key: string, article = 'a lamp'): FormData => {
  const fields = new FormData();
  fields.append('idempotency-key', key);
  fields.append('article', article);
  return fields;
};
const keyOf = (fields: FormData): unknown => fields.get('idempotency-key');
const done = (data: number): State => ({
  status: 'succeeded',
  data,
  isReplayed: false,
  key: 'next',
  submission: 'k1',
});
const redirect = Object.assign(new Error('NEXT_REDIRECT'), { digest: 'NEXT_REDIRECT;push;/;303;' });

let name: string;
let form: ActionForm;
const open = (): ActionForm => new ActionForm(name);

beforeEach(() => {
  vi.useFakeTimers();
  // Each wait is three quarters of its step: 375, 750 and 1500 ms.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  // A form lasts as long as its page: each test has one of its own, however often it is run in one process.
  name = `checkout ${crypto.randomUUID()}`;
  form = open();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A call that gives these answers, one after the other: a state, or what is thrown. */
function answering(...answers: unknown[]) {
  const sent: string[] = [];
  const call = async (fields: FormData): Promise<State> => {
    sent.push([keyOf(fields), fields.get('article')].join(' '));
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer as State;
  };
  return { sent, call };
}

test('a double click is one call, also where its second half comes after the answer', async () => {
  const { sent, call } = answering(done(1), done(2), done(3));
  const both = [form.send(fieldsOf('k1'), call), form.send(fieldsOf('k1'), call)];
  expect(await Promise.all(both)).toEqual([done(1), done(1)]);
  await vi.advanceTimersByTimeAsync(999);
  expect(await form.send(fieldsOf('next'), call)).toEqual(done(1));
  await vi.advanceTimersByTimeAsync(1);
  expect(await form.send(fieldsOf('next'), call)).toEqual(done(2));
  expect(sent).toEqual(['k1 a lamp', 'next a lamp']);
});

test('a press that is sent late is of the time when the user pressed', async () => {
  const { sent, call } = answering(done(1), done(2), done(3));
  await form.send(fieldsOf('k1'), call);
  await vi.advanceTimersByTimeAsync(999);
  dispatchEvent(new Event('submit'));
  await vi.advanceTimersByTimeAsync(5000);
  expect(await form.send(fieldsOf('next'), call)).toEqual(done(1));
  // What code sends has no press: it is of now.
  expect(await form.send(fieldsOf('next'), call)).toEqual(done(2));
  await vi.advanceTimersByTimeAsync(1000);
  dispatchEvent(new Event('submit'));
  await vi.advanceTimersByTimeAsync(5000);
  expect(await form.send(fieldsOf('later'), call)).toEqual(done(3));
  expect(sent).toEqual(['k1 a lamp', 'next a lamp', 'later a lamp']);
});

test('a press of another form, long before, is not that of what code sends', async () => {
  const { sent, call } = answering(done(1), done(2));
  await form.send(fieldsOf('k1'), call);
  await vi.advanceTimersByTimeAsync(500);
  dispatchEvent(new Event('submit'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await form.send(fieldsOf('next'), call)).toEqual(done(2));
  expect(sent).toEqual(['k1 a lamp', 'next a lamp']);
});

test('a press of the user is as old as its event says, and one of a script is of now', () => {
  const timeStamp = performance.now() - 300;
  expect(actedAt({ isTrusted: true, timeStamp } as Event, 10_000)).toBe(9700);
  expect(actedAt({ isTrusted: false, timeStamp } as Event, 10_000)).toBe(10_000);
  // A clock of the events that is ahead, as Firefox rounds it.
  expect(actedAt({ isTrusted: true, timeStamp: timeStamp + 301 } as Event, 10_000)).toBe(10_000);
});

test('the second half of a double click does not confirm what the first has asked', async () => {
  const asked: State = {
    status: 'needs-confirmation',
    reason: 'edited-after-unknown',
    key: 'k2',
    submission: 'k1',
    fields: {},
  };
  const { sent, call } = answering(asked, done(1));
  expect(await form.send(fieldsOf('k1'), call)).toEqual(asked);
  expect(await form.send(fieldsOf('k2'), call)).toEqual(asked);
  expect(sent).toEqual(['k1 a lamp']);
});

test('other content is another submission: it goes after the first, under a key of its own', async () => {
  const { sent, call } = answering(done(1), done(2));
  const first = form.send(fieldsOf('k1'), call);
  const second = form.send(fieldsOf('k1', 'a chair'), call);
  expect(await Promise.all([first, second])).toEqual([done(1), done(2)]);
  expect(sent[0]).toBe('k1 a lamp');
  expect(sent[1]).toMatch(/^\w{8}-[\w-]{36} a chair$/);
});

const expired: State = {
  status: 'needs-confirmation',
  reason: 'key-expired',
  key: 'k2',
  submission: 'k1',
  fields: {},
};

test('a form that was left open until its key had expired is sent with a new key, because nothing was sent before', async () => {
  const { sent, call } = answering(expired, done(1));
  expect(await form.send(fieldsOf('k1'), call)).toEqual(done(1));
  expect(sent).toEqual(['k1 a lamp', 'k2 a lamp']);
  expect(open().unknownKey()).toBe(undefined);
});

const lostAnswer = new TypeError('Failed to fetch');
test.each<
  readonly [where: string, before: readonly unknown[], now: readonly unknown[], retries: number]
>([
  ['was sent by the page before, and not answered', [lostAnswer], [], 3],
  ['was sent by the page before, and answered', [done(1)], [], 3],
  ['has lost its first answer', [], [lostAnswer], 3],
  ['can be sent once', [], [], 0],
])('a form whose key has expired asks where it %s', async (_where, before, now, maxRetries) => {
  const { sent, call } = answering(...before, ...now, expired, done(2));
  for (const _ of before) await form.send(fieldsOf('k1'), call, { maxRetries: 0 });
  form = open();
  const state = form.send(fieldsOf('k1'), call, { maxRetries });
  await vi.advanceTimersByTimeAsync(1000);
  expect(await state).toEqual(expired);
  expect(new Set(sent)).toEqual(new Set(['k1 a lamp']));
});

test('a lost answer is asked for again under the same key, after 375, 750 and 1500 ms', async () => {
  const lost = new TypeError('Failed to fetch');
  const { sent, call } = answering(lost, lost, lost, lost);
  const state = form.send(fieldsOf('k1'), call);
  const counts: number[] = [];
  for (const waitMs of [0, 374, 1, 749, 1, 1499, 1]) {
    await vi.advanceTimersByTimeAsync(waitMs);
    counts.push(sent.length);
  }
  expect(counts).toEqual([1, 1, 2, 2, 3, 3, 4]);
  expect(await state).toEqual({ status: 'unknown', key: 'k1', fields: {} });
  expect(new Set(sent)).toEqual(new Set(['k1 a lamp']));
});

test('while the outcome is unknown each page of the tab sends under its key, and afterwards none does', async () => {
  const { call } = answering(new TypeError('Failed to fetch'), done(1));
  await form.send(fieldsOf('k1'), call, { maxRetries: 0 });
  const reloaded = open();
  expect([reloaded.unknownKey(), reloaded.keyFor('k2')]).toEqual(['k1', 'k1']);
  await reloaded.send(fieldsOf('k1'), call, { maxRetries: 0 });
  for (const page of [form, reloaded, open()])
    expect([page.unknownKey(), page.keyFor('k2')]).toEqual([undefined, 'k2']);
});

test('a page that was gone back to is told of its key with the same content, and has a new one for other content', async () => {
  const { sent, call } = answering(done(1), done(1), done(2));
  await form.send(fieldsOf('k1'), call);
  for (const article of ['a lamp', 'a chair']) await open().send(fieldsOf('k1', article), call);
  expect(sent.slice(0, 2)).toEqual(['k1 a lamp', 'k1 a lamp']);
  expect(sent[2]).toMatch(/^\w{8}-[\w-]{36} a chair$/);
});

test('where a framework ends the first call for the second half of a double click, that one is made', async () => {
  const first = answering(new Error('aborted'));
  const second = answering(done(1));
  const once = { maxRetries: 0 };
  const both = [
    form.send(fieldsOf('k1'), first.call, once),
    form.send(fieldsOf('k1'), second.call, once),
  ];
  expect(await Promise.all(both)).toEqual([done(1), done(1)]);
  expect([...first.sent, ...second.sent]).toEqual(['k1 a lamp', 'k1 a lamp']);
});

test('a press right after an unknown outcome is sent', async () => {
  const { sent, call } = answering(new Error('lost'), done(1));
  const once = { maxRetries: 0 };
  expect(await form.send(fieldsOf('k1'), call, once)).toMatchObject({ status: 'unknown' });
  expect(await form.send(fieldsOf('k1'), call, once)).toEqual(done(1));
  expect(sent).toEqual(['k1 a lamp', 'k1 a lamp']);
});

test.each<[string, object]>([
  ['of Next.js', redirect],
  ['of the web', Response.redirect('https://shop.example/thanks', 303)],
  ['of TanStack Router', redirectInRouter({ to: '/thanks' })],
  ['that has a status alone', Object.assign(new Error('to /thanks'), { status: 307 })],
])('a redirect %s ends a submission, and a double click is redirected once more', async (_, to) => {
  const call = vi.fn<() => Promise<State>>().mockRejectedValue(to);
  await expect(form.send(fieldsOf('k1'), call)).rejects.toBe(to);
  await expect(form.send(fieldsOf('k1'), call)).rejects.toBe(to);
  expect(call).toHaveBeenCalledTimes(1);
  expect(form.unknownKey()).toBe(undefined);
});

const refusals: readonly (readonly [string, Error])[] = [
  ['notFound() of Next.js', Object.assign(new Error(), { digest: 'NEXT_HTTP_ERROR_FALLBACK;404' })],
  ['an answer with 403', Object.assign(new Error(), { status: 403 })],
  [
    'an answer with 401, of a session that has expired',
    Object.assign(new Error(), { status: 401 }),
  ],
];

test.each(refusals)('%s is passed on at once, and its key stays good', async (_, thrown) => {
  const { sent, call } = answering(thrown, done(1));
  await expect(form.send(fieldsOf('k1'), call)).rejects.toBe(thrown);
  expect([form.unknownKey(), form.keyFor('k1')]).toEqual([undefined, 'k1']);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await form.send(fieldsOf('k1'), call)).toEqual(done(1));
  expect(sent).toEqual(['k1 a lamp', 'k1 a lamp']);
});

test.each(
  refusals.flatMap(([what, thrown]) =>
    ['in the same press', 'in the press before', 'in the page before'].map((where) => ({
      what,
      thrown,
      where,
    })),
  ),
)(
  '$name does not tell what became of an answer that was lost $where',
  async ({ thrown, where }) => {
    const { sent, call } = answering(lostAnswer, thrown, done(1));
    const isOne = where === 'in the same press';
    if (!isOne) await form.send(fieldsOf('k1'), call, { maxRetries: 0 });
    if (where === 'in the page before') form = open();
    const told = form.send(fieldsOf('k1'), call).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1000);
    expect(await told).toBe(thrown);
    const next = open();
    expect(next.unknownKey()).toBe('k1');
    expect(await next.send(fieldsOf('k2'), call)).toEqual(done(1));
    expect(sent).toEqual(['k1 a lamp', 'k1 a lamp', 'k1 a lamp']);
  },
);

const fire = (type: string, persisted: boolean): boolean =>
  window.dispatchEvent(Object.assign(new Event(type), { persisted }));

type Show = (page: ActionForm) => void;
const shown: Readonly<Record<string, Show>> = {
  'it shows its answer': (page) => page.recordAnswer('k1'),
  'it shows something else in place of the form': (page) => page.recordShown(),
};
test.each<[what: string, show: Show, afterMs: number, isUnread: boolean]>([
  ...Object.entries(shown).flatMap(([what, show]): [string, Show, number, boolean][] => [
    [`299 ms after ${what}`, show, 299, true],
    [`300 ms after ${what}`, show, 300, false],
  ]),
  // As React Router does, until its loaders have run again.
  ['while it shows the form as it was sent', () => {}, 4999, true],
  ['once it has shown the form as it was sent for 5 s', () => {}, 5000, false],
  ['after it has shown the answer to another key', (page) => page.recordAnswer('k0'), 300, true],
])(
  'a page that the user begins to leave %s may hold an answer that was not read',
  async (_, show, afterMs, isUnread) => {
    const { sent, call } = answering(done(1), done(1));
    await form.send(fieldsOf('k1'), call);
    show(form);
    await vi.advanceTimersByTimeAsync(afterMs);
    fire('beforeunload', false);
    expect(open().unknownKey()).toBe(isUnread ? 'k1' : undefined);
    // The page stays for a while: for a download, or until the next one answers.
    await vi.advanceTimersByTimeAsync(5000);
    expect(open().unknownKey()).toBe(undefined);
    fire('pagehide', false);
    expect([open().unknownKey(), open().keyFor('k2')]).toEqual(
      isUnread ? ['k1', 'k1'] : [undefined, 'k2'],
    );
    await open().send(fieldsOf(open().keyFor('k2')), call);
    expect(sent).toEqual(['k1 a lamp', isUnread ? 'k1 a lamp' : 'k2 a lamp']);
  },
);

test('an answer that comes while the page is being left may not have been seen', async () => {
  const { call } = answering(redirect);
  const state = form.send(fieldsOf('k1'), call);
  fire('beforeunload', false);
  await expect(state).rejects.toBe(redirect);
  expect(open().unknownKey()).toBe('k1');
  // A download leaves nothing.
  await vi.advanceTimersByTimeAsync(5000);
  expect(open().unknownKey()).toBe(undefined);
  fire('pagehide', false);
  expect(open().unknownKey()).toBe('k1');
});

test('a page listens to being left only while it sends, for the sake of the back-forward cache', async () => {
  const listening = new Set<unknown>();
  vi.spyOn(globalThis, 'addEventListener').mockImplementation((type, listener) => {
    if (type === 'beforeunload') listening.add(listener);
  });
  vi.spyOn(globalThis, 'removeEventListener').mockImplementation((type, listener) => {
    if (type === 'beforeunload') listening.delete(listener);
  });
  const { call } = answering(done(1), done(2));
  const page = open();
  expect(listening.size).toBe(0);
  const both = [page.send(fieldsOf('k1'), call), page.send(fieldsOf('k1'), call)];
  expect(listening.size).toBe(1);
  await Promise.all(both);
  page.recordAnswer('k1');
  await vi.advanceTimersByTimeAsync(299);
  expect(listening.size).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(listening.size).toBe(0);
  await page.send(fieldsOf('next'), call);
  expect(listening.size).toBe(0);
  await page.send(fieldsOf('k2', 'a chair'), call);
  await vi.advanceTimersByTimeAsync(4999);
  expect(listening.size).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(listening.size).toBe(0);
  void page.send(fieldsOf('k3', 'a table'), () => new Promise<never>(() => {}));
  await vi.advanceTimersByTimeAsync(300);
  expect(listening.size).toBe(1);
});

test('a page that comes back from the back-forward cache takes its call for lost, and sends again', async () => {
  const { sent, call } = answering(done(1));
  let calls = 0;
  const hang = (fields: FormData): Promise<State> =>
    ++calls === 1 ? new Promise<never>(() => {}) : call(fields);
  const state = form.send(fieldsOf('k1'), hang);
  await vi.advanceTimersByTimeAsync(60_000);
  fire('pageshow', false);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls).toBe(1);
  fire('pageshow', true);
  await vi.advanceTimersByTimeAsync(375);
  expect(await state).toEqual(done(1));
  expect(sent).toEqual(['k1 a lamp']);
});

test.each([
  'no JSON',
  'null',
  '7',
  '{"unknown":1,"used":2}',
  '{"used":[1,null,{"k1":"a lamp"}]}',
  '{"used":{"0":["k1","a lamp"]}}',
])('what somebody else has written into the storage is ignored: %s', async (text) => {
  const stored = `steadfetch.form.\0${name}`;
  sessionStorage.setItem(stored, text);
  expect([form.unknownKey(), form.keyFor('k1')]).toEqual([undefined, 'k1']);
  const { sent, call } = answering(done(1));
  await form.send(fieldsOf('k1'), call);
  expect(sent).toEqual(['k1 a lamp']);
  expect(JSON.parse(sessionStorage.getItem(stored) ?? '')).toEqual({
    used: [['k1', expect.any(String)]],
  });
});

test('a form without a key is a TypeError, and not sent', async () => {
  const { sent, call } = answering(done(1));
  const fields = new FormData();
  await expect(sendAction('checkout', fields, call)).rejects.toThrow('render <KeyField>');
  expect(sent).toEqual([]);
});
