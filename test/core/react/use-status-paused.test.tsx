import { useMutation } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { createHandle } from '../react-query/handle.ts';
import { createRig, type Rig, setOnline, setVisible } from '../react-query/rig.tsx';
import { statusOf, watchMutation, showProducts } from './watch.tsx';

const none = { retryAt: undefined, lastError: undefined };

describe('a query', () => {
  test('offline from the start is paused, before its first attempt', async () => {
    const rig = createRig();
    setOnline(false);
    const watched = showProducts(rig);
    await rig.time.advance(1000);
    expect(statusOf(watched.last())).toMatchObject({
      ...none,
      status: 'paused',
      attempt: 0,
      reason: 'offline',
    });
    rig.server.plan('/products', { afterMs: 10 });
    setOnline(true);
    await rig.time.advance(1000);
    expect(watched.story().slice(-2)).toEqual(['1000 sending 1', '1010 succeeded 1']);
  });

  test('offline at the end of a wait is paused, with the attempt that failed', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, { afterMs: 10 });
    const watched = showProducts(rig);
    await rig.time.advance(100);
    setOnline(false);
    expect(watched.last().status).toBe('waiting');
    await rig.time.advance(400);
    expect(statusOf(watched.last())).toEqual({
      status: 'paused',
      attempt: 1,
      maxAttempts: 4,
      retryAt: undefined,
      reason: 'offline',
      lastError: expect.objectContaining({ status: 503 }),
    });
    await rig.time.advance(9500);
    setOnline(true);
    await rig.time.advance(1000);
    expect(watched.story().slice(-3)).toEqual([
      '500 paused 1',
      '10000 sending 2',
      '10010 succeeded 2',
    ]);
  });

  test('hidden at the end of a wait is paused, because of the hidden tab', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503, { afterMs: 10 });
    const watched = showProducts(rig, { refetchOnWindowFocus: false });
    await rig.time.advance(100);
    setVisible(false);
    await rig.time.advance(900);
    expect(statusOf(watched.last())).toMatchObject({
      status: 'paused',
      attempt: 1,
      reason: 'hidden',
    });
    setVisible(true);
    await rig.time.advance(1000);
    expect(watched.story().slice(-3)).toEqual([
      '500 paused 1',
      '1000 sending 2',
      '1010 succeeded 2',
    ]);
  });

  test('paused by the hidden tab, seen again while offline: the reason is now the network', async () => {
    const rig = createRig();
    rig.server.plan('/products', 503);
    const watched = showProducts(rig, { refetchOnWindowFocus: false });
    setVisible(false);
    await rig.time.advance(1000);
    expect(watched.last().reason).toBe('hidden');
    setOnline(false);
    setVisible(true);
    await rig.time.advance(10);
    expect(statusOf(watched.last())).toMatchObject({ status: 'paused', reason: 'offline' });
  });

  test('a failed probe allows one attempt more: none is beyond what is said to be allowed', async () => {
    const rig = createRig({ health: {} });
    rig.server.plan(
      '/products',
      ...Array.from({ length: 6 }, () => ({ status: 503, afterMs: 10 })),
    );
    const watched = showProducts(rig);
    await rig.time.advance(20_000);
    const shown = watched.renders.map(
      ({ status, attempt, maxAttempts }) => `${status} ${attempt} of ${maxAttempts}`,
    );
    expect(shown.filter((text) => /^(sending [^1]|succeeded)/.test(text))).toEqual([
      'sending 2 of 4',
      'sending 3 of 4',
      'sending 4 of 5',
      'sending 5 of 6',
      'sending 6 of 7',
      'succeeded 7 of 8',
    ]);
  });

  test('a query that needs no network is never paused', async () => {
    const rig = createRig();
    setOnline(false);
    const watched = showProducts(rig, { networkMode: 'always' });
    await rig.time.advance(1000);
    expect(watched.last().status).toBe('succeeded');
  });
});

describe('a mutation', () => {
  /** A form whose button sends PUT /name, with the key ['save', name]. */
  function createForm(rig: Rig, name: string, own: object = {}) {
    const save = createHandle<() => void>();
    const watched = watchMutation(rig, ['save', name]);
    function Form() {
      const { mutate } = useMutation({
        mutationKey: ['save', name],
        mutationFn: () => rig.steady.fetch(`/${name}`, { method: 'PUT' }),
        ...own,
      });
      save.set(() => mutate());
      return <watched.Watcher />;
    }
    return { watched, Form, press: () => act(() => save.get()()) };
  }

  test('offline is paused, and goes out when the network is back', async () => {
    const rig = createRig();
    const form = createForm(rig, 'a');
    rig.server.plan('/a', { afterMs: 10 });
    rig.show(<form.Form />);
    setOnline(false);
    form.press();
    await rig.time.advance(1000);
    expect(statusOf(form.watched.last())).toMatchObject({
      ...none,
      status: 'paused',
      attempt: 0,
      reason: 'offline',
    });
    setOnline(true);
    await rig.time.advance(1000);
    expect(form.watched.story().slice(-2)).toEqual(['1000 sending 1', '1010 succeeded 1']);
  });

  test('hidden at the end of a wait is paused, because of the hidden tab', async () => {
    const rig = createRig();
    const form = createForm(rig, 'a');
    rig.server.plan('/a', 503, { afterMs: 10 });
    rig.show(<form.Form />);
    form.press();
    await rig.time.advance(100);
    setVisible(false);
    await rig.time.advance(900);
    expect(statusOf(form.watched.last())).toMatchObject({
      status: 'paused',
      attempt: 1,
      reason: 'hidden',
      lastError: expect.objectContaining({ status: 503 }),
    });
    setVisible(true);
    await rig.time.advance(1000);
    expect(form.watched.story().slice(-2)).toEqual(['1000 sending 2', '1010 succeeded 2']);
  });

  test('behind another of its scope is paused, because it is queued', async () => {
    const rig = createRig();
    const own = { scope: { id: 'saves' } };
    const first = createForm(rig, 'a', own);
    const second = createForm(rig, 'b', own);
    rig.server.plan('/a', { afterMs: 700 });
    rig.server.plan('/b', { afterMs: 10 });
    rig.show(
      <>
        <first.Form />
        <second.Form />
      </>,
    );
    first.press();
    second.press();
    await rig.time.settle();
    expect(first.watched.last()).toMatchObject({ status: 'sending', attempt: 1 });
    expect(statusOf(second.watched.last())).toMatchObject({
      status: 'paused',
      attempt: 0,
      reason: 'queued',
    });
    await rig.time.advance(1000);
    expect(second.watched.story().slice(-2)).toEqual(['700 sending 1', '710 succeeded 1']);
  });

  test('queued while offline: once the network is back, the reason is the queue', async () => {
    const rig = createRig();
    const own = { scope: { id: 'saves' } };
    const first = createForm(rig, 'a', own);
    const second = createForm(rig, 'b', own);
    rig.server.plan('/a', { afterMs: 700 });
    rig.show(
      <>
        <first.Form />
        <second.Form />
      </>,
    );
    setOnline(false);
    first.press();
    second.press();
    await rig.time.advance(100);
    expect(second.watched.last().reason).toBe('offline');
    setOnline(true);
    await rig.time.advance(100);
    expect(first.watched.last().status).toBe('sending');
    expect(statusOf(second.watched.last())).toMatchObject({ status: 'paused', reason: 'queued' });
  });
});
