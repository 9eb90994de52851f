import { dehydrate, type DehydratedState, hydrate, type Mutation } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { setOnline, setVisible } from '../query/rig.tsx';
import { axiosPut, createPlainRig, failing, showAll, showPlain } from './plain-rig.tsx';
import { statusOf, watchMutation } from './watch.tsx';

/** Its options are a plain property again. */
function isUntouched(mutation: Mutation): boolean {
  return 'value' in (Reflect.getOwnPropertyDescriptor(mutation, 'options') ?? {});
}

describe.each([
  ['visible', () => {}],
  ['hidden', () => setVisible(false)],
  ['offline', () => setOnline(false)],
])('%s', (_where, go) => {
  test('in the wait: it ends at once in its last error, and nothing is sent any more', async () => {
    const rig = createPlainRig();
    rig.server.plan('/a', { status: 429, afterMs: 10 });
    const calls: unknown[] = [];
    const own = { onError: (error: unknown) => void calls.push(error) };
    const form = showPlain(rig, rig.plain('save', rig.put, own), true);
    form.submit();
    await rig.time.advance(100);
    go();
    form.press('cancel', 20);
    await rig.time.settle();
    const { state } = form.newest();
    expect(state).toMatchObject({ status: 'error', isPaused: false, error: { status: 429 } });
    expect(calls).toEqual([state.error]);
    expect(form.shown()).toEqual({
      status: 'failed',
      attempt: 1,
      maxAttempts: 4,
      retryAt: undefined,
      reason: 'cancelled',
      lastError: state.error,
    });
    setVisible(true);
    setOnline(true);
    form.press('retryNow');
    form.press('cancel');
    await rig.time.advance(10_000);
    expect(form.runs).toEqual([0]);
    expect([...new Set(form.story())]).toEqual([
      '0 idle 0',
      '0 sending 1',
      '10 waiting 1',
      '100 failed 1',
    ]);
    const ends = rig.events.filter(({ type }) => type === 'operation:end');
    expect(ends).toMatchObject([{ result: 'cancelled', operation: { attempt: 1 } }]);
    expect(isUntouched(form.newest())).toBe(true);
  });

  test('it ends also where its watcher goes with the press', async () => {
    const rig = createPlainRig();
    const form = rig.plain(
      'save',
      failing(9, () => axiosPut(429)),
    );
    const { rerender } = rig.show([<form.Form key="form" />, <form.Watcher key="watcher" />]);
    form.submit();
    await rig.time.advance(100);
    go();
    form.press('cancel');
    rerender(rig.wrap([<form.Form key="form" />]));
    await rig.time.settle();
    expect(form.newest().state).toMatchObject({ status: 'error', isPaused: false });
    expect(form.runs).toEqual([0]);
  });

  test('after a failure, while React Query has it paused: the same', async () => {
    const rig = createPlainRig();
    rig.server.plan('/a', 503);
    const form = showPlain(rig, rig.plain('save', rig.put));
    form.submit();
    await rig.time.advance(100);
    setVisible(false);
    await rig.time.advance(1000);
    go();
    expect(form.shown()).toMatchObject({ status: 'held', attempt: 1 });
    form.press('cancel', 20);
    await rig.time.settle();
    expect(form.newest().state).toMatchObject({ status: 'error', error: { status: 503 } });
    expect(form.shown()).toMatchObject({ status: 'unknown', attempt: 1, reason: 'cancelled' });
    setVisible(true);
    setOnline(true);
    await rig.time.advance(10_000);
    expect(form.runs).toEqual([0]);
    expect(isUntouched(form.newest())).toBe(true);
  });
});

describe('whatever it throws, and whatever `retry` the app has', () => {
  const shared = axiosPut(503);
  const refused = axiosPut(429);
  const retries: [string, object][] = [
    ['2', { retry: 2 }],
    ['true', { retry: true }],
    ['a function', { retry: () => true }],
  ];
  const errors: [string, unknown, string][] = [
    ['an error of another client', axiosPut(503), 'unknown'],
    ['one that says that nothing was done', refused, 'failed'],
    ['a shared Error', shared, 'unknown'],
    ['a string', 'no luck', 'unknown'],
    ['nothing', undefined, 'unknown'],
  ];
  const cases = retries.flatMap(([retry, own]) =>
    errors.map(([what, error, end]) => [retry, what, own, error, end] as const),
  );

  test.each(cases)('retry: %s, %s: it ends in that', async (_retry, _what, own, error, end) => {
    const rig = createPlainRig();
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(9, () => error),
        own,
      ),
    );
    form.submit();
    await rig.time.advance(100);
    expect(form.shown()).toMatchObject({ status: 'waiting', attempt: 1, lastError: error });
    form.press('cancel');
    form.renderAgain();
    await rig.time.settle();
    const { state } = form.newest();
    expect(state.status).toBe('error');
    expect(state.error).toBe(error);
    expect(form.shown()).toMatchObject({
      status: end,
      attempt: 1,
      reason: 'cancelled',
      lastError: error,
    });
    await rig.time.advance(100_000);
    expect(form.runs).toEqual([0]);
  });

  test.each(errors.slice(0, 3))('ours, in a later wait, %s', async (_what, error, end) => {
    const rig = createPlainRig();
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(9, () => error),
      ),
    );
    form.submit();
    await rig.time.advance(600);
    expect(form.shown()).toMatchObject({ status: 'waiting', attempt: 2 });
    form.press('cancel');
    await rig.time.advance(100_000);
    expect(form.shown()).toMatchObject({ status: end, attempt: 2, reason: 'cancelled' });
    expect(form.runs).toEqual([0, 500]);
  });
});

test('its promise rejects with the last error, and the next mutate is a new one', async () => {
  const rig = createPlainRig();
  rig.server.plan('/a', 503);
  const form = showPlain(rig, rig.plain('save', rig.put));
  const mutation = rig.client.getMutationCache().build(rig.client, {
    mutationKey: ['save'],
    mutationFn: rig.put,
  });
  const result = mutation.execute(undefined).catch((error: unknown) => error);
  await rig.time.advance(100);
  form.press('cancel');
  await rig.time.settle();
  expect(await result).toBe(mutation.state.error);
  form.submit();
  await rig.time.settle();
  expect(form.shown()).toMatchObject({ status: 'succeeded', attempt: 1 });
  expect(rig.server.times()).toEqual([0, 100]);
});

test('a component that renders between the press and the end changes nothing but its options', async () => {
  const rig = createPlainRig();
  const ends: string[] = [];
  const own = { onError: () => void ends.push('before') };
  const form = showPlain(
    rig,
    rig.plain(
      'save',
      failing(9, () => axiosPut(503)),
      own,
    ),
  );
  form.submit();
  await rig.time.advance(100);
  act(() => {
    form.press('cancel');
    // What a render of useMutation does.
    const { options } = form.newest();
    form
      .newest()
      .setOptions({ ...options, mutationFn: rig.put, onError: () => void ends.push('after') });
    queueMicrotask(() =>
      form
        .newest()
        .setOptions({ ...options, mutationFn: rig.put, onError: () => void ends.push('last') }),
    );
  });
  await rig.time.advance(10_000);
  expect(form.newest().state.status).toBe('error');
  expect(form.runs).toEqual([0]);
  expect(rig.server.times()).toEqual([]);
  expect(ends).toEqual(['last']);
});

test('while sending it does nothing: what is under way cannot be taken back', async () => {
  const rig = createPlainRig();
  rig.server.plan('/a', { status: 503, afterMs: 10 }, { afterMs: 10 });
  const form = showPlain(rig, rig.plain('save', rig.put));
  form.submit();
  await rig.time.settle();
  form.press('cancel');
  await rig.time.advance(515);
  expect(form.shown()).toMatchObject({ status: 'sending', attempt: 2 });
  form.press('cancel');
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 510]);
  expect(form.shown()).toMatchObject({ status: 'succeeded', attempt: 2 });
  form.press('cancel');
  await rig.time.settle();
  expect(form.shown().status).toBe('succeeded');
  expect(isUntouched(form.newest())).toBe(true);
});

test('while its attempt is held at the gate of its origin it does nothing', async () => {
  const rig = createPlainRig({ origin: {} });
  rig.server.plan('/a', 503, 503);
  const form = showPlain(rig, rig.plain('save', rig.put));
  form.submit();
  await rig.time.advance(2000);
  expect(form.shown()).toMatchObject({ status: 'held', reason: 'server-down' });
  form.press('cancel');
  await rig.time.settle();
  expect(form.shown()).toMatchObject({ status: 'held', reason: 'server-down' });
  form.press('retryNow');
  await rig.time.settle();
  expect(form.shown()).toMatchObject({ status: 'succeeded', attempt: 3 });
});

describe('before anything was sent', () => {
  const notSent = { code: 'not-sent', outcome: { kind: 'aborted', processed: 'no' } };
  const neverSent = { status: 'failed', attempt: 0, reason: 'cancelled', lastError: notSent };

  test.each([true, false])(
    'offline: it was not sent, and surely not done; strict: %s',
    async (strict) => {
      const rig = createPlainRig();
      const form = showPlain(rig, rig.plain('save', rig.put), strict);
      setOnline(false);
      form.submit();
      await rig.time.advance(100);
      expect(form.shown()).toMatchObject({ status: 'held', attempt: 0, reason: 'offline' });
      form.press('cancel', 20);
      await rig.time.settle();
      expect(form.newest().state).toMatchObject({ status: 'error', error: notSent });
      expect(form.shown()).toMatchObject(neverSent);
      setOnline(true);
      await rig.time.advance(10_000);
      expect(form.runs).toEqual([]);
      expect(isUntouched(form.newest())).toBe(true);
    },
  );

  test('behind another of its scope: it ends at once, and the row goes on', async () => {
    const rig = createPlainRig();
    const scope = { id: 'orders' };
    rig.server.plan('/a', { afterMs: 1000 }, { afterMs: 1000 });
    const [first, second, third] = ['a', 'b', 'c'].map((key) =>
      rig.plain(key, rig.put, { scope }),
    ) as [ReturnType<typeof rig.plain>, ReturnType<typeof rig.plain>, ReturnType<typeof rig.plain>];
    showAll(rig, [first, second, third]);
    first.submit();
    second.submit();
    await rig.time.advance(100);
    expect(second.shown()).toMatchObject({ status: 'held', attempt: 0, reason: 'queued' });
    second.press('cancel');
    await rig.time.settle();
    expect(second.newest().state).toMatchObject({ status: 'error', error: notSent });
    expect(second.shown()).toMatchObject(neverSent);
    expect(second.newest().options.scope).toBe(scope);
    third.submit();
    await rig.time.advance(10_000);
    expect([first.runs, second.runs, third.runs]).toEqual([[0], [], [1000]]);
    expect(third.shown().status).toBe('succeeded');
  });

  test('after a reload, from what was stored', async () => {
    const rig = createPlainRig();
    const form = showPlain(rig, rig.plain('save', rig.put));
    setOnline(false);
    form.submit();
    await rig.time.settle();
    const stored = JSON.parse(JSON.stringify(dehydrate(rig.client))) as DehydratedState;
    rig.client.clear();
    rig.client.setMutationDefaults(['save'], { mutationFn: rig.put });
    hydrate(rig.client, stored);
    const watched = watchMutation(rig, ['save']);
    rig.show(<watched.Watcher />);
    expect(statusOf(watched.last())).toMatchObject({ status: 'held', attempt: 0 });
    act(() => watched.last().cancel());
    await rig.time.settle();
    expect(statusOf(watched.last())).toMatchObject(neverSent);
    setOnline(true);
    await act(() => rig.client.resumePausedMutations());
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([]);
  });

  test('while its onMutate still runs it does nothing yet, and then it does', async () => {
    const rig = createPlainRig();
    const onMutate = () => new Promise((resolve) => setTimeout(resolve, 100));
    const form = showPlain(rig, rig.plain('save', rig.put, { onMutate }));
    setOnline(false);
    form.submit();
    await rig.time.advance(50);
    form.press('cancel');
    await rig.time.settle();
    expect(form.shown().status).toBe('held');
    await rig.time.advance(100);
    form.press('cancel');
    await rig.time.settle();
    expect(form.shown()).toMatchObject(neverSent);
  });

  test('one that goes on while React Query still calls it paused is not touched', async () => {
    const rig = createPlainRig();
    rig.server.plan('/a', { afterMs: 100 });
    const onMutate = () => new Promise((resolve) => setTimeout(resolve, 100));
    const form = showPlain(rig, rig.plain('save', rig.put, { onMutate }));
    setOnline(false);
    form.submit();
    await rig.time.advance(50);
    setOnline(true);
    await rig.time.advance(100);
    expect(form.runs).toEqual([100]);
    form.press('cancel');
    await rig.time.advance(100);
    expect(form.shown()).toMatchObject({ status: 'succeeded' });
    expect(isUntouched(form.newest())).toBe(true);
  });
});

describe('cancelling one of several', () => {
  test('the head of a scope lets the next one go', async () => {
    const rig = createPlainRig();
    const scope = { id: 'orders' };
    rig.server.plan('/a', 503);
    const forms = ['a', 'b'].map((key) => rig.plain(key, rig.put, { scope }));
    showAll(rig, forms);
    for (const { submit } of forms) submit();
    await rig.time.advance(100);
    expect(forms.map(({ shown }) => shown().status)).toEqual(['waiting', 'held']);
    forms[0]?.press('cancel');
    await rig.time.settle();
    expect(forms.map(({ shown }) => shown().status)).toEqual(['unknown', 'succeeded']);
    expect(rig.server.times()).toEqual([0, 100]);
  });

  const shared = axiosPut(503);
  test.each<[string, () => unknown, object]>([
    ['errors of their own', () => axiosPut(503), {}],
    ['one Error object', () => shared, {}],
    ['one primitive', () => 'no luck', { retry: 2 }],
  ])('that wait equally long, with %s, ends that one only', async (_what, fail, own) => {
    const rig = createPlainRig();
    const forms = ['a', 'b', 'c'].map((key) => rig.plain(key, failing(1, fail), own));
    showAll(rig, forms);
    for (const { submit } of forms) submit();
    await rig.time.advance(100);
    forms[1]?.press('cancel');
    await rig.time.settle();
    expect(forms.map(({ shown }) => [shown().status, shown().reason])).toEqual([
      ['waiting', forms[0]?.shown().reason],
      ['unknown', 'cancelled'],
      ['waiting', forms[0]?.shown().reason],
    ]);
    await rig.time.advance(10_000);
    expect(forms.map(({ shown }) => shown().status)).toEqual(['succeeded', 'unknown', 'succeeded']);
    expect(forms.map(({ runs }) => runs.length)).toEqual([2, 1, 2]);
  });

  test('does not end another that fails with the same error afterwards', async () => {
    const rig = createPlainRig();
    const forms = ['a', 'b'].map((key) =>
      rig.plain(
        key,
        failing(1, () => shared),
      ),
    );
    showAll(rig, forms);
    forms[0]?.submit();
    await rig.time.advance(100);
    forms[0]?.press('cancel');
    await rig.time.settle();
    forms[1]?.submit();
    await rig.time.settle();
    expect(forms[1]?.shown()).toMatchObject({ status: 'waiting', reason: 'unavailable' });
    await rig.time.advance(10_000);
    expect(forms.map(({ runs }) => runs)).toEqual([[0], [100, 600]]);
  });
});

test('the end is shown at once, also where an onError takes its time', async () => {
  const rig = createPlainRig();
  const onError = () => new Promise((resolve) => setTimeout(resolve, 1000));
  const form = showPlain(
    rig,
    rig.plain(
      'save',
      failing(1, () => axiosPut(429)),
      { onError },
    ),
  );
  form.submit();
  await rig.time.advance(100);
  form.press('cancel');
  await rig.time.settle();
  expect(form.newest().state.status).toBe('pending');
  expect(form.shown()).toMatchObject({ status: 'failed', attempt: 1, reason: 'cancelled' });
  await rig.time.advance(1000);
  expect(form.newest().state.status).toBe('error');
  expect(form.shown()).toMatchObject({ status: 'failed', attempt: 1, reason: 'cancelled' });
});
