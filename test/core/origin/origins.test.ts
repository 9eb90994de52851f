import { describe, expect, test, vi } from 'vitest';
import { Origins } from '../../../src/core/origin/origins.ts';
import { originOf } from '../../../src/core/lib/input/url.ts';
import { failures } from '../../../src/core/policy/outcome.ts';
import { originStatus } from '../../../src/core/origin/status.ts';
import { openNetwork } from './open-network.ts';
import { createVirtualClock, epochMs, type VirtualClock } from './virtual-clock.ts';

const open = (): { readonly origins: Origins; readonly clock: VirtualClock } => {
  const clock = createVirtualClock();
  return {
    origins: new Origins({ clock, random: () => 0.5, origin: {}, network: openNetwork }),
    clock,
  };
};

const trip = (origins: Origins, url: string, partition?: string): void => {
  const admission = origins.admissionOf(url, partition);
  for (const endpoint of ['a', 'b'])
    admission
      .enter({ endpoint, resource: endpoint, limitScope: endpoint, isNew: true, risk: 0 })
      ?.end(failures.network);
};
const isOpen = (origins: Origins, url: string, partition?: string): boolean =>
  origins.admissionOf(url, partition).isOpen({ endpoint: 'a', limitScope: 'a', risk: 0 });

describe('the admission of a URL', () => {
  test('is that of its origin, whatever its path, its case, its port by default and its user', () => {
    const { origins } = open();
    const gate = origins.admissionOf('https://api.test/a');
    for (const url of [
      'https://api.test',
      'https://api.test?a',
      'https://api.test#a',
      'https://api.test/b/c?d=//other.test/',
      'HTTPS://API.test/a',
      'https://api.test:443/a',
      'https://user:word@api.test/a',
    ]) {
      expect(origins.admissionOf(url), url).toBe(gate);
    }
  });

  test.each([
    'http://api.test/a',
    'https://api.test:8443/a',
    'https://www.api.test/a',
    'https://api.test.evil.test/a',
    'https://api.test@evil.test/a',
  ])('%s has another', (url) => {
    const { origins } = open();
    expect(origins.admissionOf(url)).not.toBe(origins.admissionOf('https://api.test/a'));
  });

  test('without an origin of its own is that of the page', () => {
    const { origins } = open();
    const gate = origins.admissionOf(`${location.origin}/a`);
    for (const url of ['/a', 'a', '?a', '#a', '', './a/b']) {
      expect(origins.admissionOf(url), url).toBe(gate);
    }
    expect(origins.admissionOf('//other.test/a')).toBe(
      origins.admissionOf(`${location.protocol}//other.test/`),
    );
  });

  test.each(['data:text/plain,hello', 'about:blank'])('%s is not the page either', (url) => {
    const { origins } = open();
    expect(origins.admissionOf(url)).not.toBe(origins.admissionOf('/a'));
  });

  test.each([
    ['a query that holds a URL', '/search?q=https://other.test/a', '/a'],
    ['a path that holds a URL', '/proxy/https://other.test/a', '/a'],
    ['a backslash', 'https://api.test\\a', 'https://api.test/b'],
  ])('%s leads nowhere else', (_what, url, same) => {
    const { origins } = open();
    expect(origins.admissionOf(url)).toBe(origins.admissionOf(same));
  });

  test('that cannot be parsed has one all the same', () => {
    const { origins } = open();
    expect(() => origins.admissionOf('https://:bad:/')).not.toThrow();
  });

  test('a declared partition has one of its own', () => {
    const { origins } = open();
    trip(origins, 'https://api.test/', 'search');
    expect(isOpen(origins, 'https://api.test/', 'search')).toBe(false);
    expect(isOpen(origins, 'https://api.test/')).toBe(true);
    expect(isOpen(origins, 'https://other.test/', 'search')).toBe(true);
  });

  test('stays the same after ten thousand other URLs', () => {
    const { origins } = open();
    const gate = origins.admissionOf('https://api.test/a');
    for (let id = 0; id < 10_000; id++)
      origins.admissionOf(`https://api.test/items/${id}?page=${id}`);
    for (let id = 0; id < 2000; id++) origins.admissionOf(`https://user${id}@api.test/`);
    expect(origins.admissionOf('https://api.test/a')).toBe(gate);
  });
});

describe('the state of an origin', () => {
  test('is up before anything was sent there', () => {
    const { origins } = open();
    expect(originStatus(origins, 'https://api.test').getState()).toEqual({
      status: 'up',
      retryAt: undefined,
      waiting: 0,
    });
  });

  test('is found by any URL of it, and is that of nobody else', () => {
    const { origins } = open();
    trip(origins, 'https://api.test/');
    expect(originStatus(origins, 'https://api.test/some/path').getState().status).toBe('down');
    expect(originStatus(origins, 'https://other.test').getState().status).toBe('up');
  });

  test('without an origin is the worst of all, and counts all who wait', async () => {
    const { origins } = open();
    origins.admissionOf('https://a.test/').origin.limits.pause('a', 10_000);
    expect(originStatus(origins).getState()).toEqual({
      status: 'rate-limited',
      retryAt: epochMs + 10_500,
      waiting: 0,
    });
    trip(origins, 'https://b.test/');
    for (const url of ['https://a.test/', 'https://b.test/']) {
      origins.admissionOf(url).wait(
        {
          endpoint: 'a',
          resource: 'a',
          limitScope: 'a',
          id: 1,
          risk: 0,
          isNew: true,
          priority: 'user-visible',
          isForeground: () => true,
          isFailFast: false,
          askedAt: epochMs,
          maxPauseMs: 60_000,
        },
        { onPause() {}, take() {} },
      );
    }
    await Promise.resolve();
    expect(originStatus(origins).getState()).toMatchObject({ status: 'down', waiting: 2 });
    expect(originStatus(origins, 'https://a.test').getState()).toMatchObject({ waiting: 1 });
  });

  test('includes its partitions', () => {
    const { origins } = open();
    trip(origins, 'https://api.test/', 'search');
    expect(originStatus(origins, 'https://api.test').getState().status).toBe('down');
  });

  test('is the same object until something changes', () => {
    const { origins } = open();
    const state = originStatus(origins, 'https://api.test');
    expect(state.getState()).toBe(state.getState());
    trip(origins, 'https://api.test/');
    const down = state.getState();
    expect(down.status).toBe('down');
    trip(origins, 'https://other.test/');
    expect(state.getState()).toBe(down);
  });

  test('tells of changes, also of an origin that nothing had been sent to yet', () => {
    const { origins } = open();
    const listener = vi.fn<() => void>();
    const stop = originStatus(origins, 'https://api.test').subscribe(listener);
    trip(origins, 'https://api.test/');
    expect(listener).toHaveBeenCalled();
    stop();
    listener.mockClear();
    origins.admissionOf('https://api.test/').origin.limits.pause('a', 1000);
    origins.reconsider();
    expect(listener).not.toHaveBeenCalled();
  });

  test('has no timer of its own but for its end, also where nobody has asked for longer than a minute', () => {
    const { origins, clock } = open();
    const state = originStatus(origins, 'https://api.test');
    state.subscribe(() => {});
    origins.admissionOf('https://api.test/').origin.limits.pause('a', 60_000);
    origins.reconsider();
    clock.advance(62_999);
    expect(state.getState().status).toBe('rate-limited');
    expect(clock.fired()).toBe(0);
    clock.advance(1);
    expect(state.getState().status).toBe('up');
    expect(clock.fired()).toBe(1);
  });

  test('of what is no URL is a mistake that is named', () => {
    const { origins } = open();
    expect(() => originStatus(origins, 'https://:bad:/')).toThrow(
      "useOriginStatus: 'https://:bad:/' is no URL, and must be one.",
    );
  });
});

test('what is idle is forgotten, so that a page that asks everywhere does not grow', () => {
  const { origins } = open();
  trip(origins, 'https://down.test/');
  for (let id = 0; id < 1000; id++) origins.admissionOf(`https://user${id}.test/`);
  expect(origins.known()).toHaveLength(50);
  expect(origins.known()).toContain('https://down.test');
});

test('the origin of a URL is that of the platform, and of a relative one that of the page', () => {
  expect(originOf('https://API.test:443/a')).toBe('https://api.test');
  expect(originOf('/a')).toBe(location.origin);
  expect(originOf('https://:bad:/')).toBe('');
});
