import { describe, expect, test } from 'vitest';
import type { OriginOptions } from '../../src/origin/options.ts';
import type { Random } from '../../src/policy/clock.ts';
import {
  createBrowser,
  createServer,
  latencyMs,
  openTab,
  origin,
  type Tab,
  type TestBrowser,
  type TestServer,
} from './tabs.ts';
import { createVirtualClock, epochMs, type VirtualClock } from './virtual-clock.ts';

interface Scene {
  readonly clock: VirtualClock;
  readonly browser: TestBrowser;
  readonly server: TestServer;
  readonly tabs: readonly Tab[];
  /** The tab of this number, from 0. */
  readonly tab: (number: number) => Tab;
  /** The canaries that have reached the server, and from which tab. */
  readonly canaries: () => { readonly atMs: number; readonly tab: number }[];
}

function open(count: number, options?: OriginOptions, random?: Random): Scene {
  const clock = createVirtualClock();
  const browser = createBrowser(clock);
  const server = createServer();
  const tabs = Array.from({ length: count }, (_, number) =>
    openTab(clock, browser.openPorts(), server, number, options, random),
  );
  clock.advance(10);
  return {
    clock,
    browser,
    server,
    tabs,
    tab(number) {
      const tab = tabs[number];
      if (!tab) throw new Error(`There is no tab ${number}.`);
      return tab;
    },
    canaries: () =>
      server.arrivals
        .filter(({ isCanary }) => isCanary)
        .map(({ at, tab }) => ({ atMs: at - epochMs, tab })),
  };
}

/** The first tab finds out that the origin is down, and the word reaches the others. */
function goDown({ clock, server, tab }: Scene): void {
  server.isUp = false;
  tab(0).ask();
  tab(0).ask();
  clock.advance(latencyMs + 5);
}

const statuses = ({ tabs }: Scene): string[] => tabs.map(({ state }) => state().status);

describe('an origin that is down', () => {
  test('is known as such to a tab that has asked for nothing, with the time of the next canary', () => {
    const scene = open(2);
    goDown(scene);
    expect(scene.tab(1).state().status).toBe('down');
    expect(scene.tab(1).state().retryAt).toBe(scene.tab(0).gate.whyHeld().retryAt);
    scene.tab(1).ask();
    expect(scene.tab(1).state().waiting).toBe(1);
    expect(scene.tab(1).sentAt).toEqual([]);
  });

  test.for([2, 20])('gets from %i tabs, through 60 s, the very canaries of one', (count) => {
    const run = (tabCount: number) => {
      const scene = open(tabCount);
      goDown(scene);
      for (let second = 0; second < 60; second += 1) {
        scene.tabs.forEach((tab, number) => {
          if (second % 5 === number % 5) tab.ask();
        });
        scene.clock.advance(1000);
      }
      expect(scene.server.arrivals.length - scene.canaries().length).toBe(2);
      return scene.canaries();
    };
    const ofOne = run(1);
    expect(ofOne).not.toEqual([]);
    expect(run(count)).toEqual(ofOne);
  });

  test('does not get its canary sooner for a new request of another tab', () => {
    const run = (isBusy: boolean) => {
      const scene = open(2);
      goDown(scene);
      for (let second = 0; second < 30; second += 1) {
        if (second === 0) for (let times = 0; times < 9; times += 1) scene.tab(0).ask();
        else if (isBusy) scene.tab(1).ask();
        scene.clock.advance(1000);
      }
      return scene.canaries();
    };
    expect(run(false)).not.toEqual([]);
    expect(run(true)).toEqual(run(false));
  });

  test('may be asked by whoever is just being told that it is down', () => {
    const scene = open(2);
    const stop = scene.tab(0).gate.circuit.subscribe(() => {
      stop();
      scene.tab(0).ask();
    });
    goDown(scene);
    expect(scene.tab(0).state().waiting).toBe(1);
  });

  test('holds no lock while nothing waits for it', () => {
    const scene = open(2);
    goDown(scene);
    expect(scene.tabs.map(({ ports }) => ports.locks())).toEqual([0, 0]);
    scene.tab(1).ask();
    expect(scene.tabs.map(({ ports }) => ports.locks())).toEqual([0, 1]);
    scene.server.isUp = true;
    scene.clock.advance(10_000);
    expect(statuses(scene)).toEqual(['up', 'up']);
    expect(scene.tabs.map(({ ports }) => ports.locks())).toEqual([0, 0]);
  });

  test('is not believed by a tab whose circuit is turned off', () => {
    const scene = open(2);
    const deaf = openTab(scene.clock, scene.browser.openPorts(), scene.server, 2, {
      circuit: false,
    });
    goDown(scene);
    expect(statuses(scene)).toEqual(['down', 'down']);
    expect(deaf.state().status).toBe('up');
  });

  test('is known to a tab that comes later, and that has asked already', () => {
    const scene = open(1);
    goDown(scene);
    scene.tab(0).ask();
    scene.clock.advance(30_000);
    const late = openTab(scene.clock, scene.browser.openPorts(), scene.server, 1);
    late.ask();
    scene.clock.advance(5);
    expect(late.state().status).toBe('down');
  });
});

describe('the tab whose turn it is', () => {
  const leaves: readonly (readonly [string, (tab: Tab) => void])[] = [
    ['is closed', ({ ports }) => ports.close()],
    ['is hidden', ({ ports }) => ports.become('hidden')],
    ['is frozen, or left', ({ ports }) => ports.become('away')],
  ];
  test.for(leaves)('%s: another takes over, where the first left off', ([, leave]) => {
    const scene = open(3);
    goDown(scene);
    for (const tab of scene.tabs) tab.ask();
    scene.clock.advance(1000);
    const { retryAt } = scene.tab(0).state();
    leave(scene.tab(0));
    scene.clock.advance(10_000);
    const [first, ...more] = scene.canaries().filter(({ tab }) => tab !== 0);
    expect(first).toEqual({ atMs: (retryAt ?? 0) - epochMs, tab: 1 });
    expect(more.every(({ tab }) => tab !== 0)).toBe(true);
  });

  test('sleeps and nobody is told: another goes when it has not been heard of for half a minute', () => {
    const scene = open(2);
    // Somebody has the lock, and does nothing.
    scene.browser.openPorts().lock(`steadfetch ${origin} `, () => {});
    goDown(scene);
    const dueAt = (scene.tab(1).state().retryAt ?? 0) - epochMs;
    scene.tab(1).ask();
    scene.clock.advance(59_000);
    const [first, ...more] = scene.canaries();
    expect(more).toEqual([]);
    expect(first?.tab).toBe(1);
    expect(first?.atMs).toBeGreaterThan(dueAt + 30_000);
    expect(first?.atMs).toBeLessThan(dueAt + 60_000);
  });

  test('changes with every canary: each goes on where the last has been, and probes at the same times', () => {
    const run = (isChanging: boolean): number[] => {
      const scene = open(9, {}, () => 0.5);
      for (const tab of scene.tabs) for (let times = 0; times < 9; times += 1) tab.ask();
      scene.clock.advance(1000 - 10);
      goDown(scene);
      for (const tab of scene.tabs) for (let times = 0; times < 9; times += 1) tab.ask();
      let seen = 0;
      for (let second = 0; second < 58; second += 1) {
        scene.clock.advance(1000);
        const { length } = scene.canaries();
        if (isChanging && length > seen) scene.tab(length - 1).ports.become('hidden');
        seen = length;
      }
      expect(new Set(scene.canaries().map(({ tab }) => tab)).size).toBe(isChanging ? seen : 1);
      return scene.canaries().map(({ atMs }) => atMs);
    };
    // 3 s after the trip, because something new was asked for; then 15 s and 22.5 s after each answer.
    const times = [4050, 19_100, 41_650];
    expect(run(false)).toEqual(times);
    expect(run(true)).toEqual(times);
  });

  test('tells when it will try again, after each canary', () => {
    const scene = open(2, {}, () => 0.5);
    goDown(scene);
    scene.tab(0).ask();
    scene.tab(0).ask();
    while (scene.canaries().length === 0) scene.clock.advance(1);
    scene.clock.advance(latencyMs + 2);
    // Down at 60 ms, asked 3 s later, and answered: with four asks it is a tab that asks for more.
    const retryAt = epochMs + 60 + 3000 + latencyMs + 7500;
    expect(scene.tabs.map(({ state }) => state().retryAt)).toEqual([retryAt, retryAt]);
  });

  test('is left for another, where something new is asked for: that is the next canary, soon', () => {
    const scene = open(2);
    goDown(scene);
    scene.tab(0).ask();
    scene.tab(0).ask();
    while (scene.canaries().length === 0) scene.clock.advance(1);
    scene.clock.advance(latencyMs + 2);
    scene.tab(1).ask();
    scene.tab(0).ports.become('hidden');
    scene.clock.advance(4000);
    expect(scene.canaries().map(({ tab }) => tab)).toEqual([0, 1]);
  });

  test('is far off, and never heard of: another does not wait for longer than a minute and a half', () => {
    const scene = open(1);
    scene.browser.openPorts().lock(`steadfetch ${origin} `, () => {});
    scene.browser.post({ ...down(scene), until: scene.clock.now() + 3_600_000 });
    scene.clock.advance(40_000);
    scene.tab(0).ask();
    scene.clock.advance(51_000);
    expect(scene.canaries().length).toBe(1);
  });

  test('is hidden with its canary under way: no other goes with it', () => {
    const scene = open(2);
    goDown(scene);
    for (const tab of scene.tabs) tab.ask();
    while (scene.canaries().length === 0) scene.clock.advance(1);
    scene.tab(0).ports.become('hidden');
    scene.clock.advance(latencyMs);
    expect(scene.canaries().length).toBe(1);
    scene.clock.advance(45_000);
    expect(scene.canaries()[1]?.tab).toBe(1);
  });
});

describe('a hidden tab', () => {
  test('sends no canary, and sends it as soon as it is seen', () => {
    const scene = open(1);
    goDown(scene);
    scene.tab(0).ports.become('hidden');
    scene.tab(0).ask();
    scene.clock.advance(10_000);
    expect(scene.canaries()).toEqual([]);
    scene.tab(0).ports.become('visible');
    scene.clock.advance(1);
    expect(scene.canaries().length).toBe(1);
  });

  test('that nobody leads sends one now and then: it would never recover', () => {
    const scene = open(1);
    scene.tab(0).ports.become('hidden');
    goDown(scene);
    for (let minute = 0; minute < 10; minute += 1) {
      scene.tab(0).ask();
      scene.clock.advance(59_999);
    }
    const count = scene.canaries().length;
    expect(count).toBeGreaterThan(5);
    expect(count).toBeLessThan(20);
    scene.server.isUp = true;
    scene.tab(0).ask();
    scene.clock.advance(70_000);
    expect(scene.tab(0).state().status).toBe('up');
  });

  test('learns what it missed while it was frozen', () => {
    const scene = open(2);
    scene.tab(1).ports.become('away');
    goDown(scene);
    expect(statuses(scene)).toEqual(['down', 'up']);
    scene.tab(1).ports.become('hidden');
    scene.clock.advance(5);
    expect(statuses(scene)).toEqual(['down', 'down']);
    scene.tab(1).ports.become('away');
    scene.server.isUp = true;
    scene.tab(0).ask();
    scene.clock.advance(20_000);
    expect(statuses(scene)).toEqual(['up', 'down']);
    scene.tab(1).ports.become('visible');
    scene.clock.advance(5);
    expect(statuses(scene)).toEqual(['up', 'up']);
  });
});

describe('an origin that is back', () => {
  test('is known as such to all tabs, which come back one by one', () => {
    const scene = open(20);
    goDown(scene);
    scene.clock.advance((scene.tab(0).state().retryAt ?? 0) - scene.clock.now() - 1000);
    for (const tab of scene.tabs) tab.ask();
    scene.server.isUp = true;
    scene.clock.advance(10_000);
    expect(scene.canaries().map(({ tab }) => tab)).toEqual([0]);
    const upAt = (scene.canaries()[0]?.atMs ?? 0) + epochMs + latencyMs;
    const after = scene.tabs.slice(1).map(({ sentAt }) => (sentAt[0] ?? Infinity) - upAt);
    expect(Math.max(...after)).toBeLessThan(2010);
    expect(Math.min(...after)).toBeGreaterThan(0);
    for (const from of after) {
      expect(after.filter((ms) => ms >= from && ms < from + 100).length).toBeLessThan(5);
    }
    expect(new Set(statuses(scene))).toEqual(new Set(['up']));
  });

  test('takes at once what a tab with nothing held asks for', () => {
    const scene = open(2);
    goDown(scene);
    scene.tab(0).ask();
    scene.server.isUp = true;
    while (scene.tab(0).state().status !== 'up') scene.clock.advance(1);
    scene.clock.advance(2);
    const now = scene.clock.now();
    scene.tab(1).ask();
    expect(scene.tab(1).sentAt).toEqual([now]);
  });

  test('and was not: the word of it keeps the others from following', () => {
    const run = (isFluke: boolean): number => {
      const scene = open(10);
      goDown(scene);
      scene.clock.advance((scene.tab(0).state().retryAt ?? 0) - scene.clock.now() - 1000);
      for (const tab of scene.tabs) tab.ask();
      scene.server.isUp = true;
      while (scene.canaries().length === 0) scene.clock.advance(1);
      scene.clock.advance(latencyMs + 2);
      const until = scene.clock.now() + 4000;
      if (isFluke) scene.browser.post({ ...down(scene), from: until, until });
      scene.clock.advance(2);
      const sent = scene.server.arrivals.length;
      scene.clock.advance(2100);
      return scene.server.arrivals.length - sent;
    };
    expect(run(false)).toBe(9);
    expect(run(true)).toBe(0);
  });

  test('while a canary of another was still under way: its failure says no more than any other', () => {
    const scene = open(2);
    goDown(scene);
    for (const tab of scene.tabs) tab.ask();
    while (scene.canaries().length === 0) scene.clock.advance(1);
    scene.browser.post({ ...down(scene), kind: 'up' });
    scene.clock.advance(1);
    expect(scene.tab(0).state().status).not.toBe('down');
    scene.clock.advance(latencyMs);
    expect(scene.tab(0).gate.circuit.isClosed()).toBe(true);
  });
});

const down = ({ clock }: Scene) => ({
  version: 1,
  key: `${origin} `,
  kind: 'down',
  at: clock.now(),
  until: clock.now(),
  from: clock.now(),
});

describe('a message', () => {
  const broken: readonly (readonly [string, (now: number) => unknown])[] = [
    ['nothing', () => undefined],
    ['null', () => null],
    ['a text', () => 'down'],
    ['an empty object', () => ({})],
    ['another version', () => ({ version: 2 })],
    ['no version', () => ({ version: undefined })],
    ['an unknown origin', () => ({ key: 'https://other.example ' })],
    ['an unknown partition', () => ({ key: `${origin} search` })],
    ['a key that is no text', () => ({ key: { origin } })],
    ['an unknown kind', () => ({ kind: 'sideways' })],
    ['no time', () => ({ at: undefined })],
    ['a time that is a text', (now) => ({ at: `${now}` })],
    ['a time that is no number', () => ({ at: Number.NaN })],
    ['a time to come', (now) => ({ at: now + 5000 })],
    ['a time before time', () => ({ at: -1 })],
    ['no end', () => ({ until: undefined })],
    ['an end that is no number', () => ({ until: Number.NaN })],
    ['an end in the year 5138', () => ({ until: 1e14 })],
    ['an end that has no end', () => ({ until: Infinity })],
    ['an end of a minute ago', (now) => ({ until: now - 60_010, from: 0 })],
    ['no beginning', () => ({ from: undefined })],
    ['a beginning after its end', (now) => ({ from: now + 1 })],
  ];
  test.for(broken)('with %s is ignored', ([, change]) => {
    const scene = open(1);
    const part = change(scene.clock.now());
    scene.browser.post(part === Object(part) ? { ...down(scene), ...(part as object) } : part);
    scene.clock.advance(5);
    const isEmpty = part === Object(part) && Object.keys(part as object).length === 0;
    // Nothing is wrong with the message that the others change.
    expect(scene.tab(0).state().status).toBe(isEmpty ? 'down' : 'up');
  });

  test.for([
    ['a text', '5'],
    ['less than nothing', -1],
    ['no number', Number.NaN],
    ['nothing', undefined],
  ] as const)('about a limit that leaves %s is ignored', ([, remaining]) => {
    const scene = open(1);
    const until = scene.clock.now() + 10_000;
    scene.browser.post({ ...down(scene), kind: 'limit', until, remaining });
    scene.clock.advance(5);
    expect(scene.tab(0).state().status).toBe('up');
  });

  test('that it is up, older than what the tab has found out since, is ignored', () => {
    const scene = open(1);
    const before = scene.clock.now();
    goDown(scene);
    scene.browser.post({ ...down(scene), kind: 'up', at: before });
    scene.clock.advance(5);
    expect(scene.tab(0).state().status).toBe('down');
  });

  test('that it is up counts also in the millisecond of the canary', () => {
    const scene = open(1);
    const word = down(scene);
    scene.browser.post(word);
    scene.browser.post({ ...word, kind: 'up' });
    scene.clock.advance(5);
    expect(scene.tab(0).state().status).toBe('up');
  });

  test('that it is down is not said again by who has learned that it is up', () => {
    const scene = open(2);
    goDown(scene);
    scene.tab(1).ask();
    scene.server.isUp = true;
    scene.clock.advance(20_000);
    expect(scene.canaries().map(({ tab }) => tab)).toEqual([1]);
    scene.tab(1).ports.close();
    const late = openTab(scene.clock, scene.browser.openPorts(), scene.server, 2);
    scene.clock.advance(5);
    expect(late.state().status).toBe('up');
  });

  test('about a limit that is over is ignored', () => {
    const scene = open(1);
    const before = scene.tab(0).gate.limit.getState();
    const until = scene.clock.now() - 10;
    scene.browser.post({ ...down(scene), kind: 'limit', until, remaining: 0 });
    scene.clock.advance(5);
    expect(scene.tab(0).gate.limit.getState()).toBe(before);
  });

  test('that it is down, older than its recovery, is ignored', () => {
    const scene = open(2);
    goDown(scene);
    const then = down(scene);
    scene.tab(0).ask();
    scene.server.isUp = true;
    scene.clock.advance(10_000);
    scene.browser.post(then);
    scene.clock.advance(5);
    expect(statuses(scene)).toEqual(['up', 'up']);
  });

  test('says of a request nothing but its origin, and when', () => {
    const scene = open(2);
    goDown(scene);
    scene.tab(0).ask();
    scene.server.isUp = true;
    scene.clock.advance(10_000);
    scene.tab(0).gate.pause(5000);
    const posted = scene.tab(0).ports.posted as Readonly<Record<string, unknown>>[];
    expect(new Set(posted.map(({ kind }) => kind))).toEqual(
      new Set(['hello', 'down', 'up', 'limit']),
    );
    for (const { version, key, kind, ...numbers } of posted) {
      expect([version, key]).toEqual([1, `${origin} `]);
      expect(typeof kind).toBe('string');
      for (const number of Object.values(numbers)) expect(number).toBeTypeOf('number');
      expect(['at', 'until', 'from', 'remaining']).toEqual(
        expect.arrayContaining(Object.keys(numbers)),
      );
    }
  });
});

describe('a rate limit', () => {
  test('that one tab was told holds them all until the same time, and lets them go spread', () => {
    const scene = open(3);
    scene.tab(0).gate.pause(10_000);
    const until = scene.clock.now() + 10_000;
    scene.clock.advance(5);
    expect(statuses(scene)).toEqual(['rate-limited', 'rate-limited', 'rate-limited']);
    expect(scene.tabs.map(({ gate }) => gate.limit.getState().until)).toEqual([
      until,
      until,
      until,
    ]);
    expect(new Set(scene.tabs.map(({ gate }) => gate.limit.getState().releaseAt)).size).toBe(3);
  });

  test('that leaves a few is not exceeded by all tabs one after the other', () => {
    const scene = open(3);
    scene.tab(0).gate.allow({ remaining: 2, resetAt: scene.clock.now() + 30_000 });
    scene.clock.advance(5);
    scene.tab(1).ask();
    scene.tab(1).ask();
    scene.tab(1).ask();
    expect(scene.tab(1).sentAt.length).toBe(2);
  });

  test('that leaves many is not worth a message', () => {
    const scene = open(2);
    const before = scene.tab(0).ports.posted.length;
    scene.tab(0).gate.allow({ remaining: 900, resetAt: scene.clock.now() + 30_000 });
    expect(scene.tab(0).ports.posted.length).toBe(before);
  });

  test('is known to a tab that comes later', () => {
    const scene = open(1);
    scene.tab(0).gate.pause(10_000);
    const late = openTab(scene.clock, scene.browser.openPorts(), scene.server, 1);
    scene.clock.advance(5);
    expect(late.state().status).toBe('rate-limited');
  });

  test('that is over is not told any more', () => {
    const scene = open(1);
    scene.tab(0).gate.pause(1000);
    scene.clock.advance(20_000);
    const late = openTab(scene.clock, scene.browser.openPorts(), scene.server, 1);
    scene.clock.advance(5);
    expect(late.state().status).toBe('up');
  });
});

describe('a tab that shares nothing', () => {
  test('neither speaks nor hears, and sends its own canaries', () => {
    const scene = open(2, { share: false });
    goDown(scene);
    expect(statuses(scene)).toEqual(['down', 'up']);
    scene.tab(0).ask();
    scene.clock.advance(10_000);
    expect(scene.canaries().length).toBeGreaterThan(0);
    expect(scene.tab(0).ports.posted).toEqual([]);
  });
});
