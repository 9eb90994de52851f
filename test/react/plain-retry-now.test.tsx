import { QueryClient, QueryClientProvider, timeoutManager } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { setOnline, setVisible } from '../query/rig.tsx';
import {
  axiosPut,
  createPlainRig,
  failing,
  type Plain,
  type PlainRig,
  showAll,
  showPlain,
} from './plain-rig.tsx';
import { watchMutation } from './watch.tsx';

describe.each([
  ['in StrictMode', true],
  ['outside of it', false],
])('%s', (_where, strict) => {
  test('twenty presses in the wait are one request, and every transition is shown', async () => {
    const rig = createPlainRig();
    rig.server.plan('/a', { status: 503, afterMs: 10 }, { afterMs: 10 });
    const form = showPlain(rig, rig.plain('save', rig.put), strict);
    form.submit();
    await rig.time.advance(100);
    expect(form.shown()).toMatchObject({ status: 'waiting', attempt: 1, reason: 'unavailable' });
    form.press('retryNow', 20);
    await rig.time.advance(5);
    expect(form.shown()).toMatchObject({ status: 'sending', attempt: 2, maxAttempts: 4 });
    for (let press = 0; press < 20; press++) form.press('retryNow');
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 100]);
    expect([...new Set(form.story())]).toEqual([
      '0 idle 0',
      '0 sending 1',
      '10 waiting 1',
      '100 sending 2',
      '110 succeeded 2',
    ]);
  });
});

test('a skipped wait uses up an attempt of the same operation, and the next is as long as ever', async () => {
  const rig = createPlainRig({ policy: { deadlineMs: 3000 } });
  rig.server.plan('/a', 503, 503, 503, 503);
  const form = showPlain(rig, rig.plain('save', rig.put));
  form.submit();
  await rig.time.advance(100);
  form.press('retryNow');
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 100, 1100]);
  expect(form.shown()).toMatchObject({ attempt: 3, reason: 'deadline' });
  const decisions = rig.events.filter(({ type }) => type === 'decision');
  expect(decisions.map(({ operation }) => operation.attempt)).toEqual([1, 2, 3]);
  expect(new Set(decisions.map(({ operation }) => operation.id)).size).toBe(1);
});

test('after a press, an equal request of somebody else in the next wait is none of its attempts', async () => {
  const rig = createPlainRig();
  rig.server.plan('/a', 503, 503, 200, 503);
  const form = showPlain(rig, rig.plain('save', rig.put));
  form.submit();
  await rig.time.advance(100);
  form.press('retryNow');
  await rig.time.advance(100);
  await rig.put();
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 100, 200, 1100, 3100]);
  expect(form.shown()).toMatchObject({ status: 'succeeded', attempt: 4 });
});

test('does nothing before anything was submitted, while sending, and after the end', async () => {
  const rig = createPlainRig();
  rig.server.plan('/a', { status: 422, afterMs: 10 });
  const form = showPlain(rig, rig.plain('save', rig.put));
  form.press('retryNow');
  form.submit();
  await rig.time.settle();
  form.press('retryNow');
  await rig.time.advance(100);
  form.press('retryNow');
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0]);
});

test.each([
  ['in a hidden tab', 'hidden-tab', () => setVisible(false), () => setVisible(true)],
  ['offline', 'offline', () => setOnline(false), () => setOnline(true)],
] as const)(
  '%s React Query holds what a press lets go, and nothing is lost',
  async (_where, reason, go, comeBack) => {
    const rig = createPlainRig();
    rig.server.plan('/a', 503);
    rig.client.mount();
    const form = showPlain(rig, rig.plain('save', rig.put));
    form.submit();
    await rig.time.advance(100);
    go();
    form.press('retryNow');
    await rig.time.settle();
    expect(form.shown()).toMatchObject({ status: 'held', attempt: 1, reason });
    form.press('retryNow');
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0]);
    comeBack();
    await rig.time.settle();
    expect(rig.server.times()).toEqual([0, 10_100]);
    expect(form.shown()).toMatchObject({ status: 'succeeded', attempt: 2 });
  },
);

describe('by another client', () => {
  test('its attempts go on being counted, and its deadline from its first', async () => {
    const rig = createPlainRig({ policy: { deadlineMs: 3000 } });
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(9, () => axiosPut(503)),
      ),
    );
    form.submit();
    await rig.time.advance(100);
    form.press('retryNow');
    await rig.time.advance(10_000);
    expect(form.runs).toEqual([0, 100, 1100]);
    expect(form.shown()).toMatchObject({ status: 'unknown', attempt: 3, reason: 'deadline' });
  });

  test('after a press, the next wait is its own again, whoever else fails meanwhile', async () => {
    const rig = createPlainRig();
    const forms = ['a', 'b'].map((key) =>
      rig.plain(
        key,
        failing(3, () => axiosPut(503)),
      ),
    );
    showAll(rig, forms);
    const [first, second] = forms as [Plain, Plain];
    first.submit();
    await rig.time.advance(600);
    second.submit();
    await rig.time.advance(100);
    second.press('retryNow');
    await rig.time.advance(10_000);
    expect(forms.map(({ runs }) => runs)).toEqual([
      [0, 500, 1500, 3500],
      [600, 700, 1700, 3700],
    ]);
    const decisions = rig.events.filter(({ type }) => type === 'decision');
    const [a, b] = new Set(decisions.map(({ operation }) => operation.id));
    expect(decisions.map(({ operation }) => operation.id)).toEqual([a, a, b, b, a, b]);
  });

  test("with the app's own number of retries, whatever it throws: the wait is shown, and ends", async () => {
    const rig = createPlainRig();
    const startedAt = rig.time.now();
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(9, () => 'no luck'),
        { retry: 2 },
      ),
    );
    form.submit();
    await rig.time.advance(100);
    // It goes on at React Query's pace.
    expect(form.shown()).toEqual({
      status: 'waiting',
      attempt: 1,
      maxAttempts: 3,
      retryAt: startedAt + 1000,
      reason: undefined,
      lastError: 'no luck',
    });
    form.press('retryNow', 20);
    await rig.time.advance(100);
    expect(form.shown()).toMatchObject({ status: 'waiting', retryAt: startedAt + 2100 });
    form.press('retryNow');
    await rig.time.advance(10_000);
    expect(form.runs).toEqual([0, 100, 200]);
    expect(form.shown()).toMatchObject({ status: 'unknown', attempt: 3 });
  });
});

describe('of several that wait equally long, each is reached by its own control', () => {
  const shared = axiosPut(503);
  const kinds: [string, () => unknown, object, number][] = [
    ['errors of their own', () => axiosPut(503), {}, 500],
    ['one Error object', () => shared, {}, 500],
    ['one primitive', () => 'no luck', { retry: 2 }, 1000],
    ['nothing at all', () => undefined, { retry: 2 }, 1000],
  ];

  test.each(kinds)('which throw %s', async (_what, fail, own, waitMs) => {
    const rig = createPlainRig();
    const forms = ['a', 'b', 'c'].map((key) => rig.plain(key, failing(1, fail), own));
    showAll(rig, forms);
    for (const { submit } of forms) submit();
    await rig.time.advance(100);
    const statuses = () => forms.map(({ shown }) => shown().status);
    expect(statuses()).toEqual(['waiting', 'waiting', 'waiting']);
    forms[1]?.press('retryNow');
    await rig.time.settle();
    expect(statuses()).toEqual(['waiting', 'succeeded', 'waiting']);
    await rig.time.advance(100);
    forms[0]?.press('retryNow');
    await rig.time.settle();
    expect(statuses()).toEqual(['succeeded', 'succeeded', 'waiting']);
    await rig.time.advance(10_000);
    expect(forms.map(({ runs }) => runs)).toEqual([
      [0, 200],
      [0, 100],
      [0, waitMs],
    ]);
  });

  /** Who watches comes only when they wait already. */
  async function watchLate(fail: () => unknown, own: object) {
    const rig = createPlainRig();
    const forms = ['a', 'b'].map((key) => rig.plain(key, failing(1, fail), own));
    const [first, second] = forms as [Plain, Plain];
    const { rerender } = rig.show([<first.Form key="a" />, <second.Form key="b" />]);
    for (const { submit } of forms) submit();
    await rig.time.advance(100);
    rerender(rig.wrap([<first.Watcher key="a" />, <second.Watcher key="b" />]));
    second.press('retryNow');
    await rig.time.advance(10_000);
    return forms.map(({ runs }) => runs);
  }

  test('also when nobody has watched before', async () => {
    expect(await watchLate(() => axiosPut(503), {})).toEqual([
      [0, 500],
      [0, 100],
    ]);
  });

  test('one that cannot be told from another waits to its end', async () => {
    expect(await watchLate(() => 'no luck', { retry: 2 })).toEqual([
      [0, 1000],
      [0, 1000],
    ]);
  });

  test('one that is told from another only by its timer waits, and so does the other', async () => {
    const rig = createPlainRig();
    const run = failing(1, () => 'no luck');
    const [sending, waiting] = [
      rig.plain('a', () => run() && new Promise(() => {}), { retry: 2 }),
      rig.plain(
        'b',
        failing(1, () => 'no luck'),
        { retry: 2 },
      ),
    ];
    const { rerender } = rig.show([<sending.Form key="a" />, <waiting.Form key="b" />]);
    sending.submit();
    await rig.time.advance(900);
    waiting.submit();
    await rig.time.advance(200);
    rerender(rig.wrap([<sending.Watcher key="a" />, <waiting.Watcher key="b" />]));
    sending.press('retryNow');
    waiting.press('retryNow');
    await rig.time.advance(10_000);
    expect([sending.runs, waiting.runs]).toEqual([
      [0, 1000],
      [900, 1900],
    ]);
  });
});

describe('a mutation of another QueryClient, which failed with the same error, is left alone', () => {
  /** The other client's waits as long as its own `retryDelay` says, if it has one. */
  function createOther(rig: PlainRig, error: unknown, own: object = {}) {
    const client = new QueryClient({ defaultOptions: rig.steady.defaultOptions });
    const runs: number[] = [];
    const run = failing(1, () => error);
    const mutationKey = ['save'];
    const mutationFn = async () => {
      runs.push(rig.elapsed());
      return run();
    };
    const mutation = client.getMutationCache().build(client, { mutationKey, mutationFn, ...own });
    return { client, runs, submit: () => void mutation.execute(undefined) };
  }

  test.each([true, false])('watched from the beginning: %s', async (isWatched) => {
    const rig = createPlainRig();
    const error = axiosPut(503);
    const other = createOther(rig, error);
    const form = rig.plain(
      'save',
      failing(1, () => error),
    );
    const { rerender } = rig.show([
      <form.Form key="form" />,
      isWatched && <form.Watcher key="watcher" />,
    ]);
    other.submit();
    form.submit();
    await rig.time.advance(100);
    rerender(rig.wrap([<form.Form key="form" />, <form.Watcher key="watcher" />]));
    form.press('retryNow');
    await rig.time.advance(10_000);
    expect(other.runs).toEqual([0, 500]);
    // Of two that nobody has watched it is not known which timer is whose.
    expect(form.runs).toEqual([0, isWatched ? 100 : 500]);
  });

  test('also where the other one is watched, and its own wait is not known', async () => {
    const rig = createPlainRig();
    const error = axiosPut(503);
    const other = createOther(rig, error, { retryDelay: 300 });
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(1, () => error),
      ),
    );
    other.submit();
    form.submit();
    await rig.time.advance(100);
    const watched = watchMutation(rig, ['save']);
    rig.show(
      <QueryClientProvider client={other.client}>
        <watched.Watcher />
      </QueryClientProvider>,
    );
    act(() => watched.last().retryNow());
    await rig.time.advance(10_000);
    expect([form.runs, other.runs]).toEqual([
      [0, 500],
      [0, 300],
    ]);
  });
});

describe('while its origin is down', () => {
  test('one press sends, and the next attempt is held, and shown so, until it is let go', async () => {
    const rig = createPlainRig({ origin: {} });
    rig.server.plan('/a', 503, 503, 503, { afterMs: 10 });
    const form = showPlain(rig, rig.plain('save', rig.put));
    form.submit();
    await rig.time.advance(600);
    expect(form.shown()).toMatchObject({ status: 'waiting', attempt: 2 });
    form.press('retryNow');
    await rig.time.settle();
    expect(rig.server.times()).toEqual([0, 500, 600]);
    await rig.time.advance(2010);
    expect(form.shown()).toMatchObject({ status: 'held', attempt: 4, reason: 'server-down' });
    form.press('retryNow', 20);
    await rig.time.settle();
    expect(form.shown()).toMatchObject({ status: 'sending', attempt: 4 });
    await rig.time.advance(10);
    expect(rig.server.times()).toEqual([0, 500, 600, 2610]);
    expect(form.shown()).toMatchObject({ status: 'succeeded', attempt: 4 });
  });
});

describe('the timers of others', () => {
  test('of the same length, set in the same turn, are neither lost nor skipped', async () => {
    const rig = createPlainRig();
    const fired: string[] = [];
    const sleep = (delayMs: number) =>
      new Promise<void>((resolve) => {
        timeoutManager.setTimeout(resolve, delayMs);
      });
    rig.client.getMutationCache().subscribe((event) => {
      if (event.type !== 'updated' || event.action.type !== 'failed') return;
      timeoutManager.setTimeout(() => void fired.push(`${rig.elapsed()} a`), 500);
      void sleep(400).then(() => fired.push(`${rig.elapsed()} c`));
      const id = timeoutManager.setTimeout(() => void fired.push('never'), 500);
      timeoutManager.clearTimeout(id);
      queueMicrotask(() => void sleep(500).then(() => fired.push(`${rig.elapsed()} b`)));
    });
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(1, () => axiosPut(503)),
      ),
    );
    form.submit();
    await rig.time.advance(100);
    form.press('retryNow');
    await rig.time.advance(10_000);
    expect(form.runs).toEqual([0, 100]);
    expect(fired).toEqual(['400 c', '500 a', '500 b']);
  });

  test('go by what somebody has put on the timeoutManager, which is there again', async () => {
    const rig = createPlainRig();
    const spy = vi.spyOn(timeoutManager, 'setTimeout');
    const clear = vi.spyOn(timeoutManager, 'clearTimeout');
    const theirs = timeoutManager.setTimeout;
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(1, () => axiosPut(503)),
      ),
    );
    form.submit();
    await rig.time.settle();
    expect(timeoutManager.setTimeout).toBe(theirs);
    expect(spy.mock.calls.filter(([, delayMs]) => delayMs === 500)).toHaveLength(1);
    await rig.time.advance(100);
    form.press('retryNow');
    await rig.time.settle();
    expect(form.runs).toEqual([0, 100]);
    // Its timer is gone.
    const timer: unknown =
      spy.mock.results[spy.mock.calls.findIndex(([, ms]) => ms === 500)]?.value;
    expect(clear.mock.calls).toContainEqual([timer]);
    spy.mockRestore();
    clear.mockRestore();
  });

  test('what somebody puts there in the same turn stays', async () => {
    const rig = createPlainRig();
    const spies: { mockRestore: () => void }[] = [];
    rig.client.getMutationCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'failed')
        spies.push(vi.spyOn(timeoutManager, 'setTimeout'));
    });
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(2, () => axiosPut(503)),
      ),
    );
    form.submit();
    await rig.time.advance(100);
    form.press('retryNow');
    await rig.time.advance(10_000);
    expect(form.runs).toEqual([0, 100, 1100]);
    expect(spies).toHaveLength(2);
    for (const { mockRestore } of spies.toReversed()) mockRestore();
    Reflect.deleteProperty(timeoutManager, 'setTimeout');
  });

  test('where nothing can be put there, it is retried as ever, and there is nothing to press', async () => {
    const rig = createPlainRig();
    const define = vi.spyOn(Reflect, 'defineProperty').mockReturnValue(false);
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(1, () => axiosPut(503)),
      ),
    );
    form.submit();
    await rig.time.advance(100);
    expect(form.shown().status).toBe('waiting');
    form.press('retryNow');
    form.press('cancel');
    await rig.time.advance(10_000);
    define.mockRestore();
    expect(form.runs).toEqual([0, 500]);
  });

  test("the app's own retryDelay is left alone", async () => {
    const rig = createPlainRig();
    const form = showPlain(
      rig,
      rig.plain(
        'save',
        failing(1, () => axiosPut(503)),
        { retryDelay: 300 },
      ),
    );
    form.submit();
    await rig.time.advance(100);
    form.press('retryNow');
    form.press('cancel');
    await rig.time.advance(10_000);
    expect(form.runs).toEqual([0, 300]);
  });

  test('one that ends without a wait leaves nothing behind for the next', async () => {
    const rig = createPlainRig();
    const error = axiosPut(503);
    const [ended, too] = ['ended', 'too'].map((key) =>
      rig.plain(
        key,
        failing(1, () => error),
        { retry: false },
      ),
    ) as [Plain, Plain];
    const waiting = rig.plain(
      'save',
      failing(1, () => error),
    );
    showAll(rig, [ended, too, waiting]);
    ended.submit();
    too.submit();
    await rig.time.settle();
    expect(Object.hasOwn(timeoutManager, 'setTimeout')).toBe(false);
    waiting.submit();
    await rig.time.advance(100);
    waiting.press('retryNow');
    ended.press('retryNow');
    await rig.time.advance(10_000);
    expect([ended, too, waiting].map(({ runs }) => runs)).toEqual([[0], [0], [0, 100]]);
  });
});

test('a mutation that waits already when somebody comes to watch is skipped, too', async () => {
  const rig = createPlainRig();
  rig.server.plan('/a', 503, { afterMs: 10 });
  const mutation = rig.client.getMutationCache().build(rig.client, {
    mutationKey: ['save'],
    mutationFn: rig.put,
  });
  void mutation.execute(undefined);
  await rig.time.advance(100);
  const watched = watchMutation(rig, ['save']);
  rig.show(<watched.Watcher />);
  act(() => watched.last().retryNow());
  await rig.time.advance(10_000);
  expect(rig.server.times()).toEqual([0, 100]);
  expect(watched.story()).toEqual(['100 waiting 1', '100 sending 2', '110 succeeded 2']);
});
