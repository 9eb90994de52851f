import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type FormSubmission,
  planSubmission,
  Submissions,
} from '../../../src/core/form/submission.ts';
import { type Clock, systemClock } from '../../../src/core/lib/clock.ts';
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
  ])('that is not whole is none: %s', (text) => {
    sessionStorage.setItem('steadfetch.form.checkout', text);
    expect(open().read()).toBe(undefined);
  });
});

describe('storage that does not work', () => {
  const message = expect.stringContaining('cannot write to sessionStorage') as string;
  const forbidden = (): never => {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  };
  const broken: Readonly<Record<string, () => TabStoragePort | undefined>> = {
    missing: () => undefined,
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
    const storage = fresh.createTabStorage(() => undefined);
    storage.write('a', '1');
    storage.write('b', '1');
    expect(warn.mock.calls).toEqual([[message]]);
    vi.stubEnv('NODE_ENV', 'production');
    vi.resetModules();
    const quiet = await import('../../../src/core/form/tab-storage.ts');
    quiet.createTabStorage(() => undefined).write('a', '1');
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
