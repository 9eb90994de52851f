import { act, cleanup, render } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import {
  createSteadfetch,
  isNetworkError,
  mutationOptions,
  limitConcurrency,
  type SteadyInit,
} from 'steadfetch';
import { type useRetryStatus, useSafeSubmit, useMutationStatus } from 'steadfetch/react';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../src/core/lib/clock.ts';
import { mutationControlsOf } from '../../../src/core/react-query/controls.ts';
import { mutationIdOf, mutationStatusesOf } from '../../../src/core/react-query/status/mutation.ts';
import { createHandle } from '../react-query/handle.ts';
import { createRig } from '../react-query/rig.tsx';
import { createFormRig, type FormRig, kite, type Payload, type Receipt } from './form-rig.tsx';

const edited = { sku: 'dragon' };

/** The next page of the same tab. */
function reload(rig: FormRig, lifetimeMs?: number): FormRig {
  rig.end();
  cleanup();
  return createFormRig({ book: rig.book, isReload: true, ...(lifetimeMs && { lifetimeMs }) });
}

/** A form that is shown. */
function open(rig: FormRig, ...options: Parameters<FormRig['createForm']>) {
  const form = rig.createForm(...options);
  rig.show(<form.Form />);
  return form;
}

/** Whether the browser asks before the page is left, for what has begun since this was called. */
function watchLeaving(): () => boolean {
  let isAsked = false;
  // Another test of this process may have left a press under way, whose listener is called before this one.
  const forget = (): void => void (isAsked = false);
  window.addEventListener('beforeunload', forget);
  onTestFinished(() => window.removeEventListener('beforeunload', forget));
  return () => {
    const event = new Event('beforeunload', { cancelable: true });
    window.dispatchEvent(Object.assign(event, { preventDefault: () => void (isAsked = true) }));
    return isAsked;
  };
}

test.each<[string, () => SteadyInit]>([
  ['whose signal was aborted before', () => ({ signal: AbortSignal.abort() })],
  ['whose time limit is no number', () => ({ timeout: NaN })],
])('a request %s has failed: the user is not asked', async (_, mistake) => {
  const rig = createFormRig();
  let isMistaken = true;
  const options = mutationOptions(rig.steady, {
    mutationFn: (payload: Payload, { json }) =>
      json<Receipt>('/orders', { json: payload, ...(isMistaken && mistake()) }),
  });
  const form = open(rig, {}, options);
  const failed = form.press();
  await rig.time.settle();
  expect(await failed).toMatchObject({ status: 'failed' });
  expect(form.last()).toMatchObject({ unknown: undefined, confirmation: undefined });
  isMistaken = false;
  const edit = form.press(edited);
  await rig.time.settle();
  expect(await edit).toMatchObject({ status: 'succeeded' });
  expect(rig.book.orders).toHaveLength(1);
});

describe('what the user meant once is submitted once', () => {
  test('two presses at once are one, and both know what became of it', async () => {
    const rig = createFormRig();
    const form = open(rig);
    const results = [form.press(), form.press({ ...kite })];
    await rig.time.settle();
    expect(await Promise.all(results)).toEqual([
      { status: 'succeeded', data: expect.objectContaining({ id: 1 }) as object },
      { status: 'succeeded', data: expect.objectContaining({ id: 1 }) as object },
    ]);
    expect(rig.book.keys).toHaveLength(1);
  });

  test('a press within a second of the success is the second half of a double click', async () => {
    const rig = createFormRig();
    const form = open(rig);
    void form.press();
    await rig.time.advance(999);
    expect(await form.press()).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    await rig.time.advance(1);
    void form.press();
    await rig.time.settle();
    expect(rig.book.orders.map(({ id }) => id)).toEqual([1, 2]);
    expect(new Set(rig.book.keys).size).toBe(2);
  });

  test('a press that a busy page learns of late is of the time when the user pressed', async () => {
    const rig = createFormRig();
    const form = open(rig);
    const pressedBefore = (ms: number) => {
      vi.stubGlobal('event', { isTrusted: true, timeStamp: performance.now() - ms });
      return form.press();
    };
    void form.press();
    await rig.time.advance(5000);
    expect(await pressedBefore(4001)).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    void pressedBefore(4000);
    await rig.time.settle();
    vi.unstubAllGlobals();
    expect(rig.book.orders.map(({ id }) => id)).toEqual([1, 2]);
  });

  test('a clock that is set back makes no press a part of it', async () => {
    let backMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() - backMs };
    const rig = createFormRig({ config: { clock } });
    const form = open(rig);
    void form.press();
    await rig.time.advance(1000);
    backMs = 3_600_000;
    void form.press();
    await rig.time.settle();
    expect(rig.book.orders).toHaveLength(2);
  });

  test('a press of something else after a success is not', async () => {
    const rig = createFormRig();
    const form = open(rig);
    void form.press();
    await rig.time.settle();
    void form.press(edited);
    await rig.time.settle();
    expect(rig.book.orders.map(({ body }) => body)).toEqual(['{"sku":"kite"}', '{"sku":"dragon"}']);
  });

  test('StrictMode and a second copy are one form: both show it, and either can be pressed', async () => {
    const rig = createFormRig();
    rig.book.plan('slow');
    const [one, two] = [rig.createForm(), rig.createForm()];
    rig.show(
      <>
        <one.Form />
        <two.Form />
      </>,
      { strict: true },
    );
    void one.press();
    await rig.time.settle();
    expect([one.last().status, two.last().status]).toEqual(['pending', 'pending']);
    const second = two.press();
    await rig.time.settle();
    rig.book.answer();
    await rig.time.settle();
    expect(await second).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect([one.last().data?.id, two.last().data?.id]).toEqual([1, 1]);
    expect(rig.book.keys).toHaveLength(1);
  });

  test('forms of other names go their own way', async () => {
    const rig = createFormRig();
    const [one, two] = [rig.createForm(), rig.createForm({ form: 'newsletter' })];
    rig.show(
      <>
        <one.Form />
        <two.Form />
      </>,
    );
    void one.press();
    void two.press();
    await rig.time.settle();
    expect(new Set(rig.book.keys).size).toBe(2);
  });

  test('something else that is pressed meanwhile is not sent, and says so', async () => {
    const rig = createFormRig();
    rig.book.plan('slow');
    const form = open(rig);
    void form.press();
    await rig.time.settle();
    expect(await form.press(edited)).toEqual({ status: 'busy' });
    rig.book.answer();
    await rig.time.settle();
    expect(rig.book.orders.map(({ body }) => body)).toEqual(['{"sku":"kite"}']);
  });

  test('reset() does nothing while it is under way', async () => {
    const rig = createFormRig();
    rig.book.plan('slow');
    const form = open(rig);
    void form.press();
    await rig.time.settle();
    act(() => form.last().reset({ forgetUnknown: true }));
    await rig.time.settle();
    expect(form.last().status).toBe('pending');
    expect(sessionStorage.getItem('steadfetch.form.checkout')).toContain(rig.book.keys[0]);
    rig.book.answer();
    await rig.time.settle();
    expect(form.last().data?.id).toBe(1);
  });

  test('a form that is left and shown again shows what is still under way', async () => {
    const rig = createFormRig();
    rig.book.plan('slow');
    const form = rig.createForm();
    const view = rig.show(<form.Form />);
    void form.press();
    await rig.time.settle();
    view.rerender(rig.wrap(null));
    view.rerender(rig.wrap(<form.Form />));
    expect(form.last().status).toBe('pending');
    void form.press();
    await rig.time.settle();
    rig.book.answer();
    await rig.time.settle();
    expect(form.last().data?.id).toBe(1);
    expect(rig.book.keys).toHaveLength(1);
    view.rerender(rig.wrap(null));
    view.rerender(rig.wrap(<form.Form />));
    expect(form.last().status).toBe('idle');
  });

  test('is pending from the press on, also while a file is being read', async () => {
    const rig = createFormRig();
    const form = open(rig);
    const payload = new FormData();
    payload.append('file', new File(['content'], 'a.txt'));
    let read!: (content: ArrayBuffer) => void;
    const content = new Promise<ArrayBuffer>((resolve) => (read = resolve));
    vi.spyOn(Blob.prototype, 'slice').mockReturnValue({ arrayBuffer: () => content } as Blob);
    const results = [form.press(payload), form.press(payload)];
    await rig.time.settle();
    expect(form.last()).toMatchObject({
      status: 'pending',
      isPending: true,
      isIdle: false,
      variables: payload,
    });
    expect(rig.book.keys).toEqual([]);
    vi.restoreAllMocks();
    read(new ArrayBuffer(7));
    await rig.time.settle();
    expect(await Promise.all(results)).toMatchObject([
      { status: 'succeeded' },
      { status: 'succeeded' },
    ]);
    expect(rig.book.keys).toHaveLength(1);
    expect(rig.book.bodies[0]).toContain('filename="a.txt"');
  });

  test('a press whose file takes long to read belongs to what was under way when it was made', async () => {
    const rig = createFormRig();
    const form = open(rig);
    const payload = new FormData();
    payload.append('file', new File(['content'], 'a.txt'));
    const reads: (() => void)[] = [];
    const slice = vi.spyOn(Blob.prototype, 'slice').mockImplementation(() => {
      const content = new Promise<ArrayBuffer>((resolve) => {
        reads.push(() => resolve(new ArrayBuffer(7)));
      });
      return { arrayBuffer: () => content } as Blob;
    });
    const results = [form.press(payload), form.press(payload)];
    await rig.time.settle();
    slice.mockRestore();
    reads[0]?.();
    await rig.time.settle();
    await rig.time.advance(5000);
    expect(await results[0]).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    reads[1]?.();
    await rig.time.settle();
    expect(await results[1]).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect(rig.book.keys).toHaveLength(1);
  });
});

describe('after a failure that was surely not done', () => {
  test('every press is a new submission, with a new key, and nothing of the old one is kept', async () => {
    const rig = createFormRig();
    rig.book.plan(422, 422, 422);
    const form = open(rig);
    expect(form.last().unknown).toBe(undefined);
    for (const payload of [kite, { ...kite }, edited]) {
      const result = form.press(payload);
      await rig.time.advance(100);
      expect(await result).toMatchObject({ status: 'failed', error: { status: 422 } });
      expect(form.last()).toMatchObject({
        status: 'error',
        unknown: undefined,
        confirmation: undefined,
      });
      expect(sessionStorage.getItem('steadfetch.form.checkout')).toBe(null);
    }
    expect(new Set(rig.book.keys).size).toBe(3);
  });

  test('an action that React has queued behind it gets the same answer, and is not sent', async () => {
    const rig = createFormRig();
    rig.book.plan(422);
    const form = open(rig);
    const queued = form.press().then(() => form.last().submit(kite));
    await rig.time.settle();
    expect(await queued).toMatchObject({ status: 'failed' });
    expect(rig.book.keys).toHaveLength(1);
  });

  test('a press as soon as the failure is shown is a press of its own', async () => {
    const rig = createFormRig();
    rig.book.plan(422);
    const form = open(rig);
    void form.press();
    await rig.time.advance(1);
    expect(form.last().status).toBe('error');
    const second = form.press();
    await rig.time.settle();
    expect(await second).toMatchObject({ status: 'succeeded' });
    expect(new Set(rig.book.keys).size).toBe(2);
  });
});

describe('after an outcome that is unknown', () => {
  async function lose(lifetimeMs?: number) {
    const rig = createFormRig(lifetimeMs ? { lifetimeMs } : {});
    rig.book.plan('lost answer');
    const form = open(rig);
    const result = form.press();
    await rig.time.advance(100);
    expect(await result).toMatchObject({ status: 'unknown' });
    return { rig, form, key: rig.book.keys[0] };
  }

  test('a press as soon as that is shown finds out under the same key', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    const form = open(rig);
    void form.press();
    await rig.time.advance(1);
    expect(form.last().unknown).toMatchObject({ idempotencyKey: rig.book.keys[0] });
    const second = form.press();
    await rig.time.settle();
    expect(await second).toMatchObject({ status: 'succeeded' });
    expect(rig.book.keys).toEqual([rig.book.keys[0], rig.book.keys[0]]);
  });

  test('it is told, and the same payload finds out under the same key', async () => {
    const { rig, form, key } = await lose();
    expect(form.last().status).toBe('error');
    expect(form.last().unknown).toMatchObject({
      idempotencyKey: key,
      since: rig.time.now() - 100,
      variables: kite,
      isRepeatable: true,
      isExpired: false,
      isResolving: false,
    });
    expect(isNetworkError(form.last().unknown?.error)).toBe(true);
    const result = form.press();
    await rig.time.settle();
    expect(await result).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect(rig.book.keys).toEqual([key, key]);
    expect(rig.book.orders).toHaveLength(1);
    expect(form.last()).toMatchObject({ status: 'success', unknown: undefined });
    expect(sessionStorage.getItem('steadfetch.form.checkout')).toBe(null);
  });

  test('its times are those on the wall, also where the clock was set back before: after a reload its key has not expired', async () => {
    let backMs = 0;
    const clock = { ...systemClock, now: () => systemClock.now() - backMs };
    const page = { lifetimeMs: 6 * 3_600_000, config: { clock } };
    const rig = createFormRig(page);
    const form = open(rig);
    backMs = 12 * 3_600_000;
    rig.book.plan('lost answer');
    const first = form.press();
    const madeAt = clock.now();
    await rig.time.advance(100);
    expect(await first).toMatchObject({ status: 'unknown' });
    expect(form.last().unknown).toMatchObject({ since: madeAt, isExpired: false });
    rig.end();
    cleanup();
    const next = createFormRig({ ...page, book: rig.book, isReload: true });
    const again = open(next).press();
    await next.time.settle();
    expect(await again).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect(next.book.orders).toHaveLength(1);
  });

  test('the same content with its keys in another order goes with the bytes of the first', async () => {
    const rig = createFormRig();
    const form = open(rig);
    rig.book.plan('lost answer');
    void form.press({ sku: 'kite', count: 1 });
    await rig.time.advance(100);
    const result = form.press({ count: 1, sku: 'kite' });
    await rig.time.settle();
    expect(await result).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect(rig.book.bodies).toEqual(['{"sku":"kite","count":1}', '{"sku":"kite","count":1}']);
  });

  describe('without variables, whose content is read from elsewhere', () => {
    async function loseWithout() {
      const rig = createFormRig();
      const content = { sku: 'kite' };
      const own = mutationOptions(rig.steady, {
        mutationFn: (_: unknown, { json }) => json<Receipt>('/orders', { json: content }),
        policy: { maxRetries: 0 },
      });
      const form = open(rig, {}, own);
      const press = async () => {
        let result!: ReturnType<(typeof last)['submit']>;
        const last = form.last();
        act(() => void (result = last.submit(undefined as never)));
        await rig.time.settle();
        return result;
      };
      rig.book.plan('lost answer');
      await press();
      return { rig, content, press };
    }

    test('the same content goes under the same key', async () => {
      const { rig, press } = await loseWithout();
      expect(await press()).toMatchObject({ status: 'succeeded', data: { id: 1 } });
      expect(rig.book.orders).toHaveLength(1);
    });

    test('other content is not told as done with that of the first: it asks at the second press', async () => {
      const { rig, content, press } = await loseWithout();
      content.sku = 'ball';
      expect(await press()).toMatchObject({ status: 'unknown' });
      const asked = await press();
      expect(asked).toMatchObject({ reason: 'edited-after-unknown' });
      act(() => void ('confirm' in asked && asked.confirm()));
      await rig.time.settle();
      expect(rig.book.orders.map(({ body }) => body)).toEqual(['{"sku":"kite"}', '{"sku":"ball"}']);
    });
  });

  test('after a reload, what can no longer be sent with the same bytes asks at the second press', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    void open(rig).press({ sku: 'kite', count: 1 });
    await rig.time.advance(100);
    const next = reload(rig);
    const form = open(next);
    const again = { count: 1, sku: 'kite' };
    const refused = form.press(again);
    await next.time.advance(100);
    expect((await refused).status).toBe('unknown');
    const asking = form.press(again);
    await next.time.settle();
    expect(await asking).toMatchObject({
      status: 'needs-confirmation',
      reason: 'edited-after-unknown',
    });
    expect(rig.book.keys).toHaveLength(1);
    act(() => void form.last().confirmation?.confirm());
    await next.time.settle();
    expect(form.last()).toMatchObject({ status: 'success', unknown: undefined });
    expect(new Set(rig.book.keys).size).toBe(2);
  });

  test('a refusal afterwards proves nothing about the first: it stays unknown', async () => {
    const { rig, form } = await lose();
    rig.book.plan(403);
    const result = form.press();
    await rig.time.advance(100);
    expect(await result).toMatchObject({ status: 'unknown', error: { status: 403 } });
    expect(form.last().unknown).toBeDefined();
  });

  test('something else asks first, and sends nothing until it is confirmed', async () => {
    const { rig, form, key } = await lose();
    const result = await form.press(edited);
    await rig.time.settle();
    expect(result).toMatchObject({
      status: 'needs-confirmation',
      reason: 'edited-after-unknown',
      variables: edited,
    });
    expect(form.last().confirmation).toMatchObject({
      reason: 'edited-after-unknown',
      variables: edited,
    });
    expect(form.last().unknown?.idempotencyKey).toBe(key);
    expect(rig.book.keys).toHaveLength(1);
    const confirmed = form.last().confirmation?.confirm();
    await rig.time.settle();
    expect(await confirmed).toMatchObject({ status: 'succeeded', data: { id: 2 } });
    expect(rig.book.keys[1]).not.toBe(key);
    expect(form.last()).toMatchObject({
      status: 'success',
      confirmation: undefined,
      unknown: undefined,
    });
  });

  test('cancel() leaves all as it was, and the first payload still has its key', async () => {
    const { rig, form, key } = await lose();
    void form.press(edited);
    await rig.time.settle();
    act(() => form.last().confirmation?.cancel());
    await rig.time.settle();
    expect(form.last().confirmation).toBe(undefined);
    void form.press();
    await rig.time.settle();
    expect(rig.book.keys).toEqual([key, key]);
  });

  test('the first payload again takes the question back', async () => {
    const { rig, form } = await lose();
    void form.press(edited);
    await rig.time.settle();
    void form.press();
    await rig.time.settle();
    expect(form.last()).toMatchObject({ status: 'success', confirmation: undefined });
  });

  test('what was confirmed for one unknown submission is not for another', async () => {
    const { rig, form } = await lose();
    void form.press(edited);
    await rig.time.settle();
    const stale = form.last().confirmation;
    rig.book.plan('lost answer');
    void form.press({ sku: 'third' });
    await rig.time.settle();
    void form.last().confirmation?.confirm();
    await rig.time.advance(100);
    const keys = [...rig.book.keys];
    expect(await act(() => stale?.confirm())).toMatchObject({ status: 'needs-confirmation' });
    expect(rig.book.keys).toEqual(keys);
  });

  test('reset() keeps its key, unless it is told to forget it', async () => {
    const { rig, form, key } = await lose();
    act(() => form.last().reset());
    await rig.time.settle();
    expect(form.last()).toMatchObject({ status: 'idle', unknown: { idempotencyKey: key } });
    act(() => form.last().reset({ forgetUnknown: true }));
    await rig.time.settle();
    expect(form.last()).toMatchObject({ status: 'idle', unknown: undefined });
    void form.press();
    await rig.time.settle();
    expect(rig.book.keys[1]).not.toBe(key);
  });

  test('a key that its API no longer knows is not sent: the first press asks, also after a reload', async () => {
    const { rig, form, key } = await lose(60_000);
    await rig.time.advance(60_000);
    const asked = { status: 'needs-confirmation', reason: 'key-expired' };
    expect(await form.press()).toMatchObject(asked);
    await rig.time.settle();
    expect(form.last().unknown).toMatchObject({ idempotencyKey: key, isExpired: true });
    const next = reload(rig, 60_000);
    // Virtual time begins anew with each page.
    await next.time.advance(60_001);
    const again = open(next);
    expect(again.last().unknown).toMatchObject({ idempotencyKey: key, isExpired: true });
    expect(await again.press()).toMatchObject(asked);
    expect(rig.book.keys).toEqual([key]);
    await next.time.settle();
    void again.last().confirmation?.confirm();
    await next.time.settle();
    expect(rig.book.keys).toHaveLength(2);
    expect(rig.book.keys[1]).not.toBe(key);
    expect(again.last().unknown).toBe(undefined);
  });

  test('where its API has a shorter lifetime by then, it is not sent, and the next press asks', async () => {
    const { rig, key } = await lose();
    const next = reload(rig, 60_000);
    const form = open(next);
    await next.time.advance(60_001);
    const result = form.press();
    await next.time.advance(100);
    expect(await result).toMatchObject({
      status: 'unknown',
      error: { outcome: { kind: 'expired' } },
    });
    expect(form.last().unknown).toMatchObject({ idempotencyKey: key, isExpired: true });
    expect(await form.press()).toMatchObject({ reason: 'key-expired' });
    expect(rig.book.keys).toEqual([key]);
  });
});

describe('after a reload', () => {
  test('before the answer: it is unknown, and the same payload goes under the same key, with the same bytes', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    const payload = (): FormData => {
      const form = new FormData();
      form.append('sku', 'kite');
      form.append('file', new File(['content'], 'a.txt', { lastModified: 1 }));
      return form;
    };
    void open(rig).press(payload());
    await rig.time.settle();
    const next = reload(rig);
    const form = open(next);
    expect(form.last()).toMatchObject({
      status: 'idle',
      isPending: false,
      confirmation: undefined,
    });
    expect(form.last().unknown).toMatchObject({
      idempotencyKey: rig.book.keys[0],
      variables: undefined,
      error: undefined,
    });
    expect(sessionStorage.getItem('steadfetch.form.checkout')).not.toContain('kite');
    const result = form.press(payload());
    await next.time.settle();
    expect(await result).toMatchObject({ status: 'succeeded', data: { id: 1 } });
    expect(rig.book.keys).toEqual([rig.book.keys[0], rig.book.keys[0]]);
    expect(rig.book.bodies[1]).toBe(rig.book.bodies[0]);
  });

  test('while it is under way, nothing is lost: the key was stored before the request went', async () => {
    const rig = createFormRig();
    rig.book.plan('slow');
    void open(rig).press();
    await rig.time.settle();
    const next = reload(rig);
    const form = open(next);
    expect(form.last().unknown?.idempotencyKey).toBe(rig.book.keys[0]);
    void form.press();
    await next.time.settle();
    expect(new Set(rig.book.keys).size).toBe(1);
    rig.book.answer();
    await next.time.settle();
  });

  test('something else still asks first', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    void open(rig).press();
    await rig.time.settle();
    const next = reload(rig);
    expect(await open(next).press(edited)).toMatchObject({ status: 'needs-confirmation' });
  });

  test('after a failure: the same is a new submission, and nobody is asked', async () => {
    const rig = createFormRig();
    rig.book.plan(422);
    void open(rig).press();
    await rig.time.settle();
    const next = reload(rig);
    const form = open(next);
    expect(form.last().unknown).toBe(undefined);
    void form.press();
    await next.time.settle();
    expect(new Set(rig.book.keys).size).toBe(2);
  });

  test('after a success nothing is known', async () => {
    const rig = createFormRig();
    void open(rig).press();
    await rig.time.settle();
    const next = reload(rig);
    expect(open(next).last().unknown).toBe(undefined);
  });

  test('with keepPayload, what was sent is known', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    void open(rig, { keepPayload: true }).press();
    await rig.time.settle();
    const next = reload(rig);
    expect(open(next).last().unknown?.variables).toEqual(kite);
  });

  test('the page that the back button brings back as it was sees what the next one has done', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    const form = open(rig);
    void form.press();
    await rig.time.settle();
    expect(form.last().unknown).toBeDefined();
    sessionStorage.removeItem('steadfetch.form.checkout');
    act(() => void window.dispatchEvent(new Event('pageshow')));
    await rig.time.settle();
    expect(form.last().unknown).toBe(undefined);
  });
});

describe('a mutation of several requests', () => {
  test('gives each of them its own key, the same after a reload', async () => {
    const rig = createFormRig();
    rig.book.plan('done', 'lost answer');
    const twoSteps = ({ steady }: FormRig) =>
      mutationOptions(steady, {
        mutationFn: async (json: object, context) => {
          const { id } = await context.json<{ id: number }>('/orders', { json });
          return context.json<{ id: number }>('/orders/pay', {
            json: { ...json, id },
            step: 'pay',
          });
        },
        policy: { maxRetries: 0 },
      });
    void open(rig, {}, twoSteps(rig)).press();
    await rig.time.settle();
    const next = reload(rig);
    const form = open(next, {}, twoSteps(next));
    void form.press();
    await next.time.settle();
    const [first, second] = rig.book.keys;
    expect(second).not.toBe(first);
    expect(rig.book.keys).toEqual([first, second, first, second]);
    expect(rig.book.orders).toHaveLength(2);
    expect(form.last().status).toBe('success');
  });

  type Body = string | FormData | File;
  const parcel = (content: string): FormData => {
    const body = new FormData();
    body.append('file', new File([content], 'a.txt'));
    return body;
  };

  const fileOf = (lastModified: number) => new File(['a'], 'a.txt', { lastModified });

  /** A form whose mutationFn sends these to one URL, named where they have a name. */
  function openMany(rig: FormRig, bodies: readonly Body[], names: readonly string[] = []) {
    const mutation = mutationOptions(rig.steady, {
      mutationFn: async (_: object, { json }) => {
        for (const [index, body] of bodies.entries()) {
          const url = `/orders${typeof body === 'string' && body.startsWith('?') ? body : ''}`;
          const step = names[index] ?? (index === 0 ? undefined : `${index}`);
          await json(url, { method: 'POST', body, step });
        }
      },
      policy: { maxRetries: 0 },
    });
    return open(rig, {}, mutation);
  }
  async function press(rig: FormRig, ...sent: readonly [readonly Body[], (readonly string[])?]) {
    const form = openMany(rig, ...sent);
    const result = form.press();
    await rig.time.advance(100);
    return { form, result: await result };
  }
  const ordered = ({ book }: FormRig) => book.orders.map(({ body }) => body);

  const abc = ['a', 'b', 'c'];
  test.each<[string, readonly Body[], readonly Body[], readonly string[]]>([
    ['in another order', abc, ['c', 'b', 'a'], ['c', 'b', 'a']],
    ['without one that is finished', abc, ['b', 'c'], ['b', 'c']],
    ['without one that is finished, of equal ones', ['a', 'a', 'a'], ['a'], ['c']],
    ['made anew', [fileOf(1)], [fileOf(2)], ['a']],
    ['with files', abc.map(parcel), abc.map(parcel), abc],
  ])('sent after a reload %s, each has the key of its name', async (_, before, after, names) => {
    const rig = createFormRig();
    rig.book.plan(...before.slice(1).map(() => 'done' as const), 'lost request');
    expect((await press(rig, before, abc)).result.status).toBe('unknown');
    const keyOf = new Map(abc.map((name, index) => [name, rig.book.keys[index]]));
    const next = reload(rig);
    expect((await press(next, after, names)).result.status).toBe('succeeded');
    expect(rig.book.keys.slice(before.length)).toEqual(names.map((name) => keyOf.get(name)));
    expect(ordered(rig).toSorted()).toEqual(rig.book.bodies.slice(0, before.length).toSorted());
  });

  test.each([
    ['', [], 'undefined'],
    [' under its name', ['pay'], "'pay'"],
  ])(
    'other bytes%s after a reload are refused, and what was sent stays unknown',
    async (_, names, shown) => {
      const rig = createFormRig();
      rig.book.plan('lost answer');
      await press(rig, ['a'], names);
      const next = reload(rig);
      const { form, result } = await press(next, ['b'], names);
      expect(result).toMatchObject({
        status: 'unknown',
        error: expect.objectContaining({
          name: 'TypeError',
          message: expect.stringContaining(
            `steady.fetch: step is ${shown}, and must be the name of the same request on every attempt`,
          ) as string,
        }) as Error,
      });
      expect(form.last().unknown).toBeDefined();
      expect(rig.book.bodies).toEqual(['a']);
      expect((await press(reload(next), ['a'], names)).result.status).toBe('succeeded');
      expect(ordered(rig)).toEqual(['a']);
    },
  );

  test('one that was left out when the page went has a key of its own', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    await press(rig, ['a', 'b']);
    const next = reload(rig);
    expect((await press(next, ['a', 'b'])).result.status).toBe('succeeded');
    expect(ordered(rig)).toEqual(['a', 'b']);
    expect(new Set(rig.book.keys).size).toBe(2);
  });

  test.each([
    ['bytes', ['a', 'b']],
    ['query', ['?a', '?b']],
  ] as const)('another %s after what surely failed is sent', async (_, [one, other]) => {
    const rig = createFormRig();
    rig.book.plan(400);
    await press(rig, [one]);
    expect((await press(rig, [other])).result.status).toBe('succeeded');
    expect(rig.book.bodies).toEqual([one, other]);
  });

  test('bytes that were never sent bind nobody', async () => {
    const rig = createFormRig({
      config: { health: {}, concurrency: limitConcurrency({ maxInFlight: 1 }) },
    });
    rig.book.plan('slow');
    void rig.steady.fetch('/orders', { method: 'POST' }).catch(() => {});
    await rig.time.settle();
    const form = openMany(rig, ['a']);
    const held = form.press();
    await rig.time.settle();
    const statuses = mutationStatusesOf(rig.client, 'test');
    act(() => mutationControlsOf(statuses, mutationIdOf(form.last().target)).cancel());
    rig.book.answer();
    await rig.time.advance(100);
    expect((await held).status).toBe('failed');
    expect((await press(rig, ['b'])).result.status).toBe('succeeded');
    expect(rig.book.bodies).toEqual(['', 'b']);
  });

  test('what is kept of them tells nothing of what was in them', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    await press(rig, ['a secret']);
    const stored = sessionStorage.getItem('steadfetch.form.checkout') ?? '';
    expect(stored).not.toContain('secret');
    const { steps } = JSON.parse(stored) as { steps: unknown };
    expect(steps).toEqual([
      {
        id: '',
        target: 'POST http://localhost:3000/orders',
        key: rig.book.keys[0],
        digest: expect.stringMatching(/^[\da-f]{32}$/) as string,
        refusals: 0,
        sentAt: rig.time.now() - 100,
      },
    ]);
  });
});

describe('a page that a server has rendered', () => {
  test('says nothing of the tab, and comes to life without a mismatch', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    void open(rig).press();
    await rig.time.settle();
    const next = reload(rig);
    function Form() {
      const { unknown, status } = useSafeSubmit(next.placeOrder, { form: 'checkout' });
      return <p>{unknown ? 'unknown' : status}</p>;
    }
    const container = document.createElement('div');
    document.body.append(container);
    container.innerHTML = renderToString(next.wrap(<Form />));
    expect(container.textContent).toBe('idle');
    const errors = vi.spyOn(console, 'error');
    render(next.wrap(<Form />), { container, hydrate: true });
    await next.time.settle();
    expect(container.textContent).toBe('unknown');
    expect(errors).not.toHaveBeenCalled();
  });
});

describe('another page of the same tab', () => {
  test('has sent it since: then a failure of this page, which was put away, proves nothing', async () => {
    const rig = createFormRig({
      config: { health: {}, concurrency: limitConcurrency({ maxInFlight: 1 }) },
    });
    rig.book.plan('slow');
    void rig.steady.fetch('/orders', { method: 'POST' }).catch(() => {});
    await rig.time.settle();
    const form = open(rig);
    const paused = form.press();
    await rig.time.settle();
    const name = 'steadfetch.form.checkout';
    const stored = JSON.parse(sessionStorage.getItem(name) ?? '') as object;
    sessionStorage.setItem(name, JSON.stringify({ ...stored, sentBy: 'the other page' }));
    const statuses = mutationStatusesOf(rig.client, 'test');
    act(() => mutationControlsOf(statuses, mutationIdOf(form.last().target)).cancel());
    await rig.time.settle();
    expect(await paused).toMatchObject({ status: 'unknown' });
    expect(form.last().unknown).toBeDefined();
    rig.book.answer();
  });
});

describe('leaving the page', () => {
  test('asks while it is under way, and only then', async () => {
    const rig = createFormRig();
    rig.book.plan('slow', 'slow');
    const form = open(rig);
    const isAsked = watchLeaving();
    expect(isAsked()).toBe(false);
    void form.press();
    expect(isAsked()).toBe(true);
    await rig.time.settle();
    expect(isAsked()).toBe(true);
    rig.book.answer();
    await rig.time.settle();
    expect(isAsked()).toBe(false);
  });

  test('does not ask after a failure', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    const form = open(rig);
    const isAsked = watchLeaving();
    void form.press();
    await rig.time.settle();
    expect(form.last().unknown).toBeDefined();
    expect(isAsked()).toBe(false);
  });

  test.each([
    ['onSuccess', 'done'],
    ['onError', 422],
    ['onSettled', 'done'],
    ['onSettled', 'lost answer'],
  ] as const)(
    'does not ask where %s leaves it: the outcome is known (%s)',
    async (callback, fate) => {
      const rig = createFormRig();
      rig.book.plan(fate);
      const isAsked = watchLeaving();
      const asked: boolean[] = [];
      const form = open(rig, {}, { [callback]: () => void asked.push(isAsked()) });
      void form.press();
      await rig.time.settle();
      expect(asked).toEqual([false]);
    },
  );

  test('does not ask for a payload that was refused', async () => {
    const form = open(createFormRig());
    const isAsked = watchLeaving();
    await expect(form.press({ sku: () => {} })).rejects.toThrow(TypeError);
    expect(isAsked()).toBe(false);
  });
});

describe('retries, the status and its controls', () => {
  function watch(rig: FormRig, policy: object) {
    const status = createHandle<ReturnType<typeof useRetryStatus>>();
    const own = mutationOptions(rig.steady, {
      mutationFn: (payload: object, { json }) =>
        json<{ id: number }>('/orders', { method: 'POST', json: payload }),
      policy,
    });
    const form = createHandle<ReturnType<typeof useForm>>();
    const useForm = () => useSafeSubmit(own, { form: 'checkout' });
    function Form() {
      const result = useForm();
      form.set(result);
      status.set(useMutationStatus(result.target));
      return null;
    }
    rig.show(<Form />);
    return { form: form.get, status: status.get };
  }

  test('its attempts have one key, and Retry now ends a wait', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer', 'lost request');
    const { form, status } = watch(rig, { maxRetries: 3 });
    expect(status().status).toBe('idle');
    act(() => void form().submit(kite));
    await rig.time.settle();
    expect(status()).toMatchObject({ status: 'waiting', attempt: 1 });
    act(() => status().retryNow());
    await rig.time.settle();
    expect(status()).toMatchObject({ status: 'waiting', attempt: 2 });
    await rig.time.advance(1000);
    expect(status().status).toBe('succeeded');
    expect(new Set(rig.book.keys).size).toBe(1);
    expect(rig.book.orders).toHaveLength(1);
  });

  test('Cancel of what was sent ends in unknown, for both', async () => {
    const rig = createFormRig();
    rig.book.plan('slow');
    const { form, status } = watch(rig, {});
    act(() => void form().submit(kite));
    await rig.time.settle();
    act(() => status().cancel());
    await rig.time.settle();
    expect(status().status).toBe('unknown');
    expect(form().unknown).toBeDefined();
  });

  const onMutateFails = {
    onMutate() {
      throw new Error('in onMutate');
    },
  };

  test('an onMutate that throws has sent nothing: it is surely not done', async () => {
    const rig = createFormRig();
    const form = open(rig, {}, onMutateFails);
    const result = form.press();
    await rig.time.settle();
    expect(await result).toEqual({ status: 'failed', error: new Error('in onMutate') });
    expect(form.last().unknown).toBe(undefined);
    expect(rig.book.keys).toEqual([]);
  });

  test('an onMutate that throws does not undo what was sent before', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer');
    void open(rig).press();
    await rig.time.advance(100);
    const form = open(rig, {}, onMutateFails);
    const result = form.press();
    await rig.time.settle();
    expect(await result).toMatchObject({ status: 'unknown', error: new Error('in onMutate') });
    const statuses = mutationStatusesOf(rig.client, 'test');
    expect(statuses.getState(mutationIdOf(form.last().target)).status).toBe('unknown');
  });

  test('Cancel while onMutate runs is surely not done', async () => {
    const rig = createFormRig();
    let go!: () => void;
    const form = open(rig, {}, { onMutate: () => new Promise<void>((done) => (go = done)) });
    const result = form.press();
    await rig.time.settle();
    const statuses = mutationStatusesOf(rig.client, 'test');
    act(() => mutationControlsOf(statuses, mutationIdOf(form.last().target)).cancel());
    go();
    await rig.time.settle();
    expect(await result).toMatchObject({ status: 'failed', error: { code: 'not-sent' } });
    expect(rig.book.keys).toEqual([]);
  });

  test('Cancel of what was not sent is surely not done, unless it was sent before', async () => {
    const rig = createFormRig({
      config: { health: {}, concurrency: limitConcurrency({ maxInFlight: 1 }) },
    });
    const { form, status } = watch(rig, { maxRetries: 0 });
    /** Cancels what waits behind something slow, and says what became of it. */
    const cancelHeld = async (): Promise<string> => {
      rig.book.plan('slow');
      void rig.steady.fetch('/orders', { method: 'POST' }).catch(() => {});
      await rig.time.settle();
      act(() => void form().submit(kite));
      await rig.time.settle();
      expect(status()).toMatchObject({ status: 'paused', reason: 'queued' });
      act(() => status().cancel());
      await rig.time.advance(100);
      rig.book.answer();
      await rig.time.settle();
      return status().status;
    };
    expect(await cancelHeld()).toBe('failed');
    expect(form().unknown).toBe(undefined);
    rig.book.plan('lost answer');
    act(() => void form().submit(kite));
    await rig.time.advance(100);
    expect(form().unknown).toBeDefined();
    expect(await cancelHeld()).toBe('unknown');
    expect(form().error).toMatchObject({ outcome: { processed: 'unknown' } });
    expect(form().unknown).toBeDefined();
  });

  test('Cancel in the row of a scope does not undo what was sent before', async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer', 'slow');
    const scope = { id: 'orders' };
    const form = open(rig, {}, { scope });
    void form.press();
    await rig.time.advance(100);
    const other = { ...rig.placeOrder, scope };
    const first = rig.client.getMutationCache().build(rig.client, other);
    void first.execute({ sku: 'first' }).catch(() => {});
    await rig.time.settle();
    const result = form.press();
    await rig.time.settle();
    const statuses = mutationStatusesOf(rig.client, 'test');
    act(() => mutationControlsOf(statuses, mutationIdOf(form.last().target)).cancel());
    await rig.time.advance(100);
    expect(await result).toMatchObject({
      status: 'unknown',
      error: { outcome: { processed: 'unknown' } },
    });
    expect(statuses.getState(mutationIdOf(form.last().target)).status).toBe('unknown');
    expect(form.last().unknown).toBeDefined();
    rig.book.answer();
    await rig.time.settle();
    expect(rig.book.keys).toHaveLength(2);
  });
});

describe('what a developer can get wrong', () => {
  const show = (use: () => unknown): unknown => {
    const rig = createRig();
    vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      function Form() {
        use();
        return null;
      }
      rig.show(<Form />);
      return undefined;
    } catch (error) {
      return error;
    } finally {
      rig.end();
    }
  };

  test('a mutationFn that is not ours, and a form without a name, are TypeErrors at once', () => {
    const plain = { mutationFn: async () => 1 };
    expect(show(() => useSafeSubmit(plain, { form: 'a' }))).toEqual(
      new TypeError(
        'useSafeSubmit: mutationFn is a function, and must be that of mutationOptions.',
      ),
    );
    const ours = mutationOptions(createSteadfetch(), plain);
    expect(show(() => useSafeSubmit(ours, { form: '' }))).toEqual(
      new TypeError("useSafeSubmit: form is '', and must be a name."),
    );
  });

  test('keepPayload with what is no JSON', async () => {
    const rig = createFormRig();
    const form = open(rig, { keepPayload: true });
    await expect(form.press(new FormData())).rejects.toThrow('useSafeSubmit: keepPayload is true');
    await rig.time.settle();
    expect(form.last().status).toBe('idle');
    expect(rig.book.keys).toEqual([]);
  });

  test('callbacks of the options run, and one that throws leaves the outcome unknown', async () => {
    const rig = createFormRig();
    const onSuccess = vi.fn<() => void>(() => {
      throw new Error('in the callback');
    });
    const form = open(rig, {}, { onSuccess });
    const result = form.press();
    await rig.time.settle();
    expect(await result).toMatchObject({ status: 'unknown', error: new Error('in the callback') });
    expect(onSuccess).toHaveBeenCalledTimes(1);
  });

  test('throwOnError throws in render, as in useMutation', async () => {
    const rig = createFormRig();
    rig.book.plan(422);
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const form = open(rig, {}, { throwOnError: true });
    void form.press();
    await expect(rig.time.settle()).rejects.toMatchObject({ status: 422 });
  });
});

describe('what may have been booked is never called failed', () => {
  test('a request after it that fails does not undo it', async () => {
    const rig = createFormRig();
    rig.book.plan('done', 400);
    const placeOrder = mutationOptions(rig.steady, {
      mutationFn: async (json: object, context) => {
        await context.json('/orders', { method: 'POST', json });
        return context.json('/orders/mail', { method: 'POST', json, step: 'mail' });
      },
    });
    const form = open(rig, {}, placeOrder);
    const result = form.press();
    await rig.time.settle();
    expect(await result).toMatchObject({
      status: 'unknown',
      error: { status: 400, outcome: { processed: 'unknown' } },
    });
    expect(form.last().unknown).toBeDefined();
  });

  test("nor does a refusal to the app's own retry", async () => {
    const rig = createFormRig();
    rig.book.plan('lost answer', 403);
    const form = open(rig, {}, { retry: 1, retryDelay: 10 });
    const result = form.press();
    await rig.time.advance(1000);
    expect(rig.book.keys).toEqual([rig.book.keys[0], rig.book.keys[0]]);
    expect(await result).toMatchObject({
      status: 'unknown',
      error: { status: 403, outcome: { processed: 'unknown' } },
    });
  });

  test('where its API is not declared to honour keys, the same again asks first', async () => {
    const rig = createFormRig({ config: { apis: [] } });
    vi.spyOn(console, 'warn').mockReturnValue();
    rig.book.plan('lost answer');
    const form = open(rig);
    const first = form.press();
    await rig.time.advance(100);
    expect(await first).toMatchObject({ status: 'unknown' });
    const again = form.press();
    await rig.time.settle();
    expect(await again).toMatchObject({ status: 'needs-confirmation', reason: 'no-key' });
    expect(rig.book.orders).toHaveLength(1);
  });
});

test('two questions about one order, each confirmed twice, send one', async () => {
  const rig = createFormRig();
  rig.book.plan('lost answer');
  const form = open(rig);
  void form.press();
  await rig.time.advance(100);
  const questions = [form.press(edited), form.press(edited)];
  await rig.time.settle();
  for (const question of [...questions, ...questions]) {
    const asked = await question;
    if (asked.status !== 'needs-confirmation') throw new Error(asked.status);
    const result = asked.confirm();
    await rig.time.advance(2000);
    expect(await result).toMatchObject({ status: 'succeeded', data: { id: 2 } });
  }
  expect(rig.book.keys).toHaveLength(2);
});

test('a file that cannot be read ends in failed, with its error shown, until the next press', async () => {
  const rig = createFormRig();
  const called: unknown[][] = [];
  const call =
    (name: string) =>
    (...args: readonly unknown[]): void =>
      void called.push([name, ...args.slice(0, 2)]);
  rig.client.getMutationCache().config.onError = call('onError of the cache');
  const own = {
    onMutate: call('onMutate'),
    onError: call('onError'),
    onSettled: call('onSettled'),
  };
  const form = open(rig, {}, own);
  const gone = new DOMException('The file could not be read.', 'NotReadableError');
  const file = new File(['x'], 'a.txt');
  file.slice = () => {
    throw gone;
  };
  const result = form.press({ file });
  await rig.time.settle();
  expect(await result).toEqual({ status: 'failed', error: gone });
  expect(form.last()).toMatchObject({
    status: 'error',
    isError: true,
    isPending: false,
    error: gone,
    variables: { file },
    unknown: undefined,
  });
  expect(rig.book.keys).toEqual([]);
  // As with React Query alone, where the mutation fails.
  expect(called.map(([name]) => name)).toEqual([
    'onMutate',
    'onError of the cache',
    'onError',
    'onSettled',
  ]);
  expect(called[2]).toEqual(['onError', gone, { file }]);
  const again = form.press();
  await rig.time.settle();
  expect(await again).toMatchObject({ status: 'succeeded' });
  expect(form.last()).toMatchObject({ status: 'success', error: null });
});
