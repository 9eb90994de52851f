import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type FormSubmission,
  planSubmission,
  Submissions,
  TabSubmission,
} from '../../../src/core/form/submission.ts';
import { type Clock, systemClock } from '../../../src/core/lib/clock.ts';
import { fingerprintOf } from '../../../src/core/lib/fingerprint.ts';
import { createTabStorage, type TabStoragePort } from '../../../src/core/form/tab-storage.ts';

const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
beforeEach(() => {
  sessionStorage.clear();
  warn.mockClear();
});

const submitted: FormSubmission = { key: 'k1', createdAt: 5, fingerprint: 'a', isRepeatable: true };

describe('a submission in the storage of the tab', () => {
  const open = (form = 'checkout') => new Submissions(createTabStorage(), form);

  test('is known to the next page, by the name of its form', () => {
    open().write(submitted);
    expect(open().read()).toEqual(submitted);
    expect(open('other').read()).toBe(undefined);
    expect(sessionStorage.getItem('steadfetch.form.checkout')).toBe(JSON.stringify(submitted));
  });

  test('is changed and forgotten only by its own key', () => {
    open().write(submitted);
    open().update('k2', { isRepeatable: false });
    open().remove('k2');
    expect(open().read()).toEqual(submitted);
    open().update('k1', { isRepeatable: false });
    expect(open().read()).toEqual({ ...submitted, isRepeatable: false });
    open().remove('k1');
    expect(open().read()).toBe(undefined);
    open().update('k1', { isRepeatable: false });
    expect(open().read()).toBe(undefined);
  });

  test.each([
    '',
    '{',
    'null',
    '[]',
    '{"key":"k1"}',
    JSON.stringify({ ...submitted, key: '' }),
    JSON.stringify({ ...submitted, key: 7 }),
    JSON.stringify({ ...submitted, createdAt: null }),
    JSON.stringify({ ...submitted, fingerprint: 1 }),
    JSON.stringify({ ...submitted, steps: [{ id: '' }] }),
    JSON.stringify({ ...submitted, steps: [{ id: 0, target: 'POST /', key: 'k' }] }),
    JSON.stringify({ ...submitted, steps: [{ id: '', target: 0, key: 'k' }] }),
    JSON.stringify({ ...submitted, steps: [{ id: '', target: 'POST /', key: 0 }] }),
    JSON.stringify({ ...submitted, before: { ...submitted, key: '' } }),
  ])('that is not whole is none: %s', (text) => {
    sessionStorage.setItem('steadfetch.form.checkout', text);
    expect(open().read()).toBe(undefined);
  });

  test('that is whole has its steps, and the one before it', () => {
    const whole = {
      ...submitted,
      steps: [{ id: '', target: 'POST /', key: 'k' }],
      before: { ...submitted, key: 'k0' },
    };
    open().write(whole);
    expect(open().read()).toEqual(whole);
  });

  test('that was certainly not done leaves the one before it', () => {
    const before = { ...submitted, key: 'k0' };
    const submissions = open();
    submissions.undo('k1');
    expect(submissions.read()).toBe(undefined);
    submissions.write({ ...submitted, before });
    submissions.undo('k0');
    expect(submissions.read()).toEqual({ ...submitted, before });
    submissions.undo('k1');
    expect(submissions.read()).toEqual(before);
    submissions.undo('k0');
    expect(submissions.read()).toBe(undefined);
    expect(sessionStorage.length).toBe(0);
    submissions.remove('k0');
    expect(submissions.read()).toBe(undefined);
  });

  test('takes with it what only its page knows of it', () => {
    const submissions = open();
    expect(submissions.inPage('k1')).toEqual({});
    submissions.write(submitted);
    submissions.remember('k1', { variables: 1 });
    submissions.texts.set('d', 'text');
    expect(submissions.inPage('k1')).toEqual({ variables: 1 });
    submissions.remove('k1');
    expect(submissions.inPage('k1')).toEqual({});
    expect(submissions.texts.size).toBe(0);
  });
});

describe('a submission that is sent', () => {
  const step = { id: '', target: 'POST /', key: 'k1', attempt: 1, sentAt: 7 };

  function send(known: FormSubmission = submitted, wasSent = false) {
    const submissions = new Submissions(createTabStorage(), 'checkout');
    submissions.write(known);
    return { submissions, submission: new TabSubmission(submissions, known, wasSent) };
  }

  test.each<[string, Partial<FormSubmission>, object]>([
    ['with a key', { isRepeatable: true }, { isRepeatable: true, isUnkeyed: false }],
    ['without one', { isRepeatable: false }, { isRepeatable: false, isUnkeyed: true }],
    [
      'or is not known to be',
      { isRepeatable: undefined },
      { isRepeatable: false, isUnkeyed: false },
    ],
    ['to an API that forgets its key', { expiresAt: 9 }, { expiresAt: 9 }],
    ['to one that does not', {}, { expiresAt: Infinity }],
  ])('%s goes on as it was stored', (_, known, facts) => {
    for (const wasSent of [true, false])
      expect(send({ ...submitted, ...known }, wasSent).submission).toMatchObject({
        key: 'k1',
        createdAt: 5,
        past: [],
        wasSent,
        ...facts,
      });
  });

  test('has its steps with the texts that its page has sent, and the refused ones under new keys', () => {
    const submissions = new Submissions(createTabStorage(), 'checkout');
    submissions.texts.set('d', 'text');
    const steps = [
      { id: '', target: 'POST /', key: 'k1', digest: 'd' },
      { id: '#a', target: 'POST /a', key: 'a', digest: 'e' },
      { id: '#b', target: 'POST /b', key: 'b', isRefused: true },
    ];
    const { past } = new TabSubmission(submissions, { ...submitted, steps }, true);
    expect(past).toEqual([
      { ...steps[0], body: 'text' },
      steps[1],
      { id: '#b', target: 'POST /b', key: 'b', refusals: 1 },
    ]);
  });

  test('stores each step without its bytes, and keeps its text in the page', () => {
    const { submissions, submission } = send();
    submission.recordStep({ ...step, body: 'text', digest: 'd' });
    submission.recordStep({ ...step, id: '#a', body: new Blob(['x']), digest: 'e' });
    submission.recordStep({ ...step, id: '#b', body: 'unknown' }, { lifetimeMs: 10 });
    const stored = { target: 'POST /', key: 'k1', sentAt: 7 };
    expect(submissions.read()).toEqual({
      ...submitted,
      expiresAt: 15,
      steps: [
        { ...stored, id: '', digest: 'd' },
        { ...stored, id: '#a', digest: 'e' },
        { ...stored, id: '#b' },
      ],
    });
    expect([...submissions.texts]).toEqual([['d', 'text']]);
  });

  test('stores what becomes of it', () => {
    const { submissions, submission } = send({ ...submitted, isRepeatable: undefined });
    const { isRepeatable: _, ...plain } = { ...submitted, steps: [] };
    submission.recordChanged();
    expect(submissions.read()).toEqual(plain);
    submission.recordRepeatable();
    expect(submissions.read()).toEqual({ ...plain, isRepeatable: true });
    submission.recordStuck();
    expect(submissions.read()).toEqual({ ...plain, isRepeatable: true, isStuck: true });
    submission.recordUnkeyed();
    expect(submissions.read()).toEqual({ ...plain, isRepeatable: false, isStuck: true });
  });

  test('knows a body by its content', async () => {
    expect(await send().submission.digest('text')).toBe(await fingerprintOf('text'));
  });
});

describe('storage that does not work', () => {
  const message =
    '[steadfetch] useSafeSubmit cannot write to sessionStorage (missing, forbidden or full). Until that is mended, a ' +
    'form that is sent again after a reload gets a new idempotency key, and its order may be booked twice. ' +
    'See node_modules/steadfetch/docs/idempotency.md#what-the-user-sees.';
  const forbidden = (): never => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  };
  const missing = (): TabStoragePort => undefined as unknown as TabStoragePort;
  const broken: Readonly<Record<string, () => TabStoragePort>> = {
    missing,
    forbidden,
    'throwing at every use': () => ({
      getItem: forbidden,
      setItem: forbidden,
      removeItem: forbidden,
    }),
  };

  test.each(Object.entries(broken))('%s: this page still knows', (_, port) => {
    const submissions = new Submissions(createTabStorage(port), 'checkout');
    submissions.write(submitted);
    expect(submissions.read()).toEqual(submitted);
    submissions.remove('k1');
    expect(submissions.read()).toBe(undefined);
    expect(createTabStorage(port).read('a')).toBe(null);
  });

  test('full for a while: the newest text counts', () => {
    const items = new Map<string, string>();
    let isFull = true;
    const storage = createTabStorage(() => ({
      getItem: (name) => items.get(name) ?? null,
      setItem: (name, text) => (isFull ? forbidden() : void items.set(name, text)),
      removeItem: (name) => void items.delete(name),
    }));
    storage.write('a', 'first');
    expect(storage.read('a')).toBe('first');
    isFull = false;
    storage.write('a', 'second');
    expect(storage.read('a')).toBe('second');
  });

  test('full: what was there before does not come back', () => {
    const items = new Map([
      ['steadfetch.form.checkout', JSON.stringify({ ...submitted, key: 'k0' })],
    ]);
    const full: TabStoragePort = {
      getItem: (name) => items.get(name) ?? null,
      setItem: forbidden,
      removeItem: (name) => void items.delete(name),
    };
    const submissions = new Submissions(
      createTabStorage(() => full),
      'checkout',
    );
    submissions.write(submitted);
    expect(submissions.read()).toEqual(submitted);
    expect(items.size).toBe(0);
    submissions.remove('k1');
    expect(submissions.read()).toBe(undefined);
  });

  test('full at the second write: the next page still knows what the first has stored', () => {
    let writes = 0;
    const items = new Map<string, string>();
    const port: TabStoragePort = {
      getItem: (name) => items.get(name) ?? null,
      setItem: (name, text) => (++writes > 1 ? forbidden() : void items.set(name, text)),
      removeItem: (name) => void items.delete(name),
    };
    const open = () =>
      new Submissions(
        createTabStorage(() => port),
        'checkout',
      );
    const submissions = open();
    submissions.write(submitted);
    submissions.update('k1', { expiresAt: 9 });
    expect(submissions.read()).toEqual({ ...submitted, expiresAt: 9 });
    expect(open().read()).toEqual(submitted);
  });

  test('is told of once, in development', async () => {
    vi.resetModules();
    const fresh = await import('../../../src/core/form/tab-storage.ts');
    const storage = fresh.createTabStorage(missing);
    storage.write('a', '1');
    storage.write('b', '1');
    expect(warn.mock.calls).toEqual([[message]]);
    vi.stubEnv('NODE_ENV', 'production');
    vi.resetModules();
    const quiet = await import('../../../src/core/form/tab-storage.ts');
    quiet.createTabStorage(missing).write('a', '1');
    expect(warn).toHaveBeenCalledTimes(1);
    vi.unstubAllEnvs();
  });
});

describe('a press of Submit', () => {
  const press = { fingerprint: 'a' };
  const at = (nowMs: number, setBackMs = 0): Clock => ({
    ...systemClock,
    now: () => nowMs,
    setBackMs: () => setBackMs,
  });
  const clock = at(100);
  const fresh = (fingerprint: string, before?: FormSubmission) => ({
    kind: 'send',
    submission: {
      key: expect.stringMatching(/^[\da-f-]{36}$/) as string,
      createdAt: 100,
      fingerprint,
      before,
    },
    wasSent: false,
  });

  test('that is the first has a new key', () => {
    expect(planSubmission(undefined, press, clock)).toEqual(fresh('a'));
  });

  test('after an unknown outcome goes under the same key, which keeps its age', () => {
    expect(planSubmission(submitted, press, clock)).toEqual({
      kind: 'send',
      submission: submitted,
      wasSent: true,
    });
  });

  test.each<[string, Partial<FormSubmission>]>([
    ['found not to have been done goes under its key, should it still be on its way', {}],
    ['its age is that of its key', { expiresAt: 100 }],
  ])('%s', (_, more) => {
    const notDone = { ...submitted, ...more };
    const plan = planSubmission(undefined, { ...press, notDone }, clock);
    expect(plan).toEqual({ kind: 'send', submission: notDone, wasSent: false });
  });

  test.each<[string, Partial<FormSubmission>]>([
    ['another payload', { fingerprint: 'b' }],
    ['what went without a key', { isRepeatable: false }],
    ['what no request is known of', { isRepeatable: undefined }],
    ['a key that may be forgotten', { expiresAt: 99 }],
  ])('after %s was found not to have been done has a new key', (_, more) => {
    const notDone = { ...submitted, ...more };
    expect(planSubmission(undefined, { ...press, notDone }, clock)).toEqual(fresh('a'));
  });

  test('with another payload after an unknown outcome asks first, and then has a new key', () => {
    const edited = { ...press, fingerprint: 'b' };
    const ask = { kind: 'ask', reason: 'edited-after-unknown', key: 'k1' };
    expect(planSubmission(submitted, edited, clock)).toEqual(ask);
    expect(planSubmission(submitted, { ...edited, confirmedKey: 'k0' }, clock)).toEqual(ask);
    expect(planSubmission(submitted, { ...edited, confirmedKey: 'k1' }, clock)).toEqual(
      fresh('b', submitted),
    );
  });

  test('whose requests have changed asks first, too', () => {
    const changed = { ...press, isChanged: true };
    expect(planSubmission(submitted, changed, clock)).toEqual({
      kind: 'ask',
      reason: 'edited-after-unknown',
      key: 'k1',
    });
  });

  test('after its key has expired asks first, and then has a new key', () => {
    const expired = { ...submitted, expiresAt: 99 };
    const ask = { kind: 'ask', reason: 'key-expired', key: 'k1' };
    expect(planSubmission(expired, press, clock)).toEqual(ask);
    expect(planSubmission(expired, { ...press, fingerprint: 'b' }, clock)).toEqual({
      ...ask,
      reason: 'edited-after-unknown',
    });
    expect(planSubmission(expired, { ...press, confirmedKey: 'k1' }, clock)).toEqual(
      fresh('a', expired),
    );
  });

  test('keeps its key up to the end of its lifetime', () => {
    const known = { ...submitted, expiresAt: 100 };
    expect(planSubmission(known, press, clock)).toEqual({
      kind: 'send',
      submission: known,
      wasSent: true,
    });
  });

  test('asks first where an earlier page made its key after the time that the clock shows now', () => {
    const made = { ...submitted, createdAt: 1_000_000, expiresAt: 9_000_000 };
    const plan = (nowMs: number) => planSubmission(made, press, at(nowMs));
    expect(plan(940_000)).toMatchObject({ kind: 'send' });
    expect(plan(939_999)).toEqual({ kind: 'ask', reason: 'age-unknown', key: 'k1' });
    const endless = { ...made, expiresAt: undefined };
    expect(planSubmission(endless, press, at(0)).kind).toBe('send');
  });

  test.each([
    ['before', 0, 600_000],
    ['after', 600_000, 600_000],
    ['between', 600_000, 900_000],
  ])(
    'knows the age of a key of its own page that was made %s the clock was set back',
    (_, aheadMs, setBackMs) => {
      const made = { ...submitted, createdAt: 1_000_000, aheadMs, expiresAt: 1_300_000 };
      const plan = (ageMs: number) =>
        planSubmission(made, press, at(1_000_000 + aheadMs + ageMs, setBackMs));
      expect(plan(300_000)).toMatchObject({ kind: 'send' });
      expect(plan(300_001)).toMatchObject({ kind: 'ask', reason: 'key-expired' });
    },
  );

  test('does not apply how far the clock of an earlier page was ahead', () => {
    const made = { ...submitted, createdAt: 1_000_000, aheadMs: 600_000, expiresAt: 1_300_000 };
    expect(planSubmission(made, press, at(1_200_000)).kind).toBe('send');
    expect(planSubmission(made, press, at(1_300_001)).kind).toBe('ask');
  });

  test('asks first where its API has stored a failure that does not tell what was done', () => {
    const stuck = { ...submitted, isStuck: true };
    expect(planSubmission(stuck, press, clock)).toEqual({
      kind: 'ask',
      reason: 'cannot-find-out',
      key: 'k1',
    });
    expect(planSubmission(stuck, { ...press, confirmedKey: 'k1' }, clock)).toEqual(
      fresh('a', stuck),
    );
  });

  test('goes under the same key also after two that have found nothing out, unless that is confirmed', () => {
    const known = { ...submitted, fruitless: 2 };
    expect(planSubmission(known, press, clock)).toMatchObject({ submission: known });
    expect(planSubmission(known, { ...press, confirmedKey: 'k1' }, clock)).toEqual(
      fresh('a', known),
    );
  });

  test.each([false, undefined])(
    'after it went without a key, or nothing is known to have had one, asks first, and then has a new one (%s)',
    (isRepeatable) => {
      const unkeyed = { ...submitted, isRepeatable };
      expect(planSubmission(unkeyed, press, clock)).toEqual({
        kind: 'ask',
        reason: 'no-key',
        key: 'k1',
      });
      expect(planSubmission(unkeyed, { ...press, confirmedKey: 'k1' }, clock)).toEqual(
        fresh('a', unkeyed),
      );
    },
  );

  test('that was confirmed keeps the key where that still helps', () => {
    expect(planSubmission(submitted, { ...press, confirmedKey: 'k1' }, clock)).toEqual({
      kind: 'send',
      submission: submitted,
      wasSent: true,
    });
  });
});
