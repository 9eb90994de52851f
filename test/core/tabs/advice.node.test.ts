import { describe, expect, test } from 'vitest';
import type { SharePorts } from '../../../src/core/tabs/ports.ts';
import { stateOf } from '../../../src/core/origin/status.ts';
import type { Receive, Leader } from '../../../src/core/tabs/leader.ts';
import { createTabs } from '../../../src/core/tabs/share-across-tabs.ts';
import { openOrigin, type OriginRig } from '../origin/rig.ts';
import { createVirtualClock } from '../origin/virtual-clock.ts';

const dayMs = 86_400_000;

/** Joins the tabs of one browser; `post` says something as a tab that nobody here knows. */
function openBrowser() {
  const receivers = new Set<(message: unknown) => void>();
  const ports: SharePorts = {
    open(_, receive) {
      receivers.add(receive);
      return {
        post(message) {
          for (const other of receivers) if (other !== receive) other(message);
        },
        close: () => void receivers.delete(receive),
      };
    },
    watch(listener) {
      listener('visible');
      return () => {};
    },
  };
  const clock = createVirtualClock();
  return {
    openTab(number: number, ownClock = clock): OriginRig & { readonly leads: readonly string[] } {
      const leads: string[] = [];
      const tell = (key: string, scope: string, isLeader: boolean): void =>
        void leads.push(`${ownClock.elapsed()} ${key} '${scope}' ${isLeader ? 'start' : 'end'}`);
      const tabs = createTabs(ownClock, () => number / 10, ports, new Set([tell]));
      const join = (receive: Receive): Leader => tabs.join('origin', receive);
      return { ...openOrigin({}, () => 0.5, join, ownClock), leads };
    },
    post(message: object) {
      for (const receive of receivers) receive({ version: 2, key: 'origin', from: 0, ...message });
    },
  };
}

test.each([
  ['down and probed elsewhere', { kind: 'down', scope: '', isProbed: true }],
  ['down', { kind: 'down', scope: '', isProbed: false }],
  ['an endpoint down', { kind: 'down', scope: 'a', isProbed: true }],
  ['limited for a day', { kind: 'limit', scope: 'a', forMs: dayMs, remaining: 0 }],
])('told every second that it is %s, a user waits for 16 s at most', async (_what, word) => {
  const browser = openBrowser();
  const { ask, advance } = browser.openTab(1);
  browser.post(word);
  const asked = ask('a');
  for (let second = 0; second < 16; second++) {
    await advance(1000);
    browser.post(word);
  }
  expect(asked.story).toHaveLength(1);
});

describe('what waits in the background for the probe of another tab', () => {
  const down = { kind: 'down', scope: '', isProbed: true };
  const background = { isForeground: () => false, maxPauseMs: 30_000 };

  test('goes as the probe before its time is up, where that tab has died', async () => {
    const browser = openBrowser();
    const { ask, advance } = browser.openTab(9);
    browser.post(down);
    const asked = ask('a', background);
    await advance(40_000);
    expect(asked.story).toEqual(['27000 probe']);
  });

  test('asks nothing as long as that tab says that it probes', async () => {
    const browser = openBrowser();
    const { ask, advance } = browser.openTab(9);
    browser.post(down);
    const waiting = ask('a', background);
    for (let second = 0; second < 40; second += 3) {
      await advance(3000);
      browser.post(down);
    }
    expect(waiting.story).toEqual(['30000 expired']);
  });
});

test('the countdown of an endpoint goes on where another tab finds all of its origin down', async () => {
  const browser = openBrowser();
  const { ask, advance, send } = browser.openTab(1);
  for (let failures = 0; failures < 2; failures++) send('a', 'outage');
  const asked = ask('a');
  await advance(1000);
  browser.post({ kind: 'down', scope: '', isProbed: false });
  await advance(50);
  expect(asked.paused()).toBe('server-down 1200');
  await advance(150);
  expect(asked.story).toEqual(['1200 probe']);
});

test.each([
  ['of another version', { version: 3, kind: 'down', scope: '', isProbed: true }],
  ['about another origin', { key: 'other', kind: 'down', scope: '', isProbed: true }],
  ['without a sender', { from: undefined, kind: 'down', scope: '', isProbed: true }],
  ['without a scope', { kind: 'down', isProbed: true }],
  ['of no kind', { kind: 'lost', scope: '' }],
  ['with a limit that is none', { kind: 'limit', scope: 'a', forMs: NaN, remaining: 0 }],
])('a message %s changes nothing', (_what, message) => {
  const browser = openBrowser();
  const { ask } = browser.openTab(1);
  browser.post(message);
  expect(ask('a').story).toEqual(['0']);
});

test('a tab that finds a server down tells the others, and the one with a user probes', async () => {
  const browser = openBrowser();
  const finder = browser.openTab(1);
  const other = browser.openTab(2);
  finder.send('a', 'outage');
  finder.send('b', 'outage');
  const asked = other.ask('c');
  await other.advance(5000);
  expect(asked.story).toEqual(['1200 probe']);
  expect(finder.log).toEqual(['0 a', '0 b']);
});

test('one tab probes for all, and what waits in all of them goes when its probe is answered', async () => {
  const browser = openBrowser();
  const leader = browser.openTab(1);
  const other = browser.openTab(2);
  leader.send('a', 'outage');
  leader.send('b', 'outage');
  const first = leader.ask('a');
  await leader.advance(1000);
  const second = other.ask('c');
  await leader.advance(200);
  expect(first.story).toEqual(['1200 probe']);
  // It is shown whose probe is waited for.
  expect(stateOf(other.admission.origin)).toEqual({
    status: 'down',
    retryAt: undefined,
    probedBy: 'another-tab',
    waiting: 1,
  });
  expect(other.admission.whyPaused({ endpoint: 'c', limitScope: 'c', risk: 2 })).toEqual({
    reason: 'server-down',
    retryAt: undefined,
    probedBy: 'another-tab',
  });
  expect(stateOf(leader.admission.origin).probedBy).toBe(undefined);
  expect(second.story).toEqual([]);
  first.settle('success');
  await leader.advance(1500);
  expect(second.story).toEqual(['1950']);
});

test('a leader that hangs is replaced within 10 s', async () => {
  const browser = openBrowser();
  const frozen = createVirtualClock();
  const leader = browser.openTab(1, frozen);
  const other = browser.openTab(2);
  leader.send('a', 'outage');
  leader.send('b', 'outage');
  leader.ask('a');
  await leader.advance(1200);
  expect(leader.log.at(-1)).toBe('1200 a probe');
  const asked = other.ask('c');
  // The clock of the leader stands still: it says nothing more.
  await other.advance(10_000);
  expect(asked.story).toEqual(['6500 probe']);
});

describe('who probes for all is told', () => {
  test('when its first probe goes, and when that has found the server up', async () => {
    const browser = openBrowser();
    const leader = browser.openTab(1);
    const other = browser.openTab(2);
    leader.send('a', 'outage');
    leader.send('b', 'outage');
    const first = leader.ask('a');
    const second = leader.ask('a');
    other.ask('c');
    await leader.advance(1200);
    first.settle('outage');
    await leader.advance(1200);
    expect(second.story).toEqual(['2400 probe']);
    await leader.advance(100);
    second.settle('success');
    expect([leader.leads, other.leads]).toEqual([
      ["1200 origin '' start", "2500 origin '' end"],
      [],
    ]);
  });

  test('when nobody waits there any more', async () => {
    const { send, ask, advance, leads } = openBrowser().openTab(1);
    send('a', 'outage');
    send('a', 'outage');
    const first = ask('a');
    const second = ask('a');
    await advance(1200);
    first.settle('outage');
    await advance(100);
    second.leave();
    await advance(100);
    expect(leads).toEqual(["1200 origin 'a' start", "1300 origin 'a' end"]);
  });

  test('when it hears of another tab that probes, too, and has the lower number', async () => {
    const browser = openBrowser();
    const { send, ask, advance, leads } = browser.openTab(1);
    send('a', 'outage');
    send('a', 'outage');
    ask('a');
    await advance(1200);
    browser.post({ kind: 'down', scope: 'a', isProbed: true, from: 0.2 });
    expect(leads).toEqual(["1200 origin 'a' start"]);
    browser.post({ kind: 'down', scope: 'a', isProbed: true, from: 0 });
    expect(leads).toEqual(["1200 origin 'a' start", "1200 origin 'a' end"]);
  });

  test('of an endpoint, also when all of its origin was down, and is up again', async () => {
    const browser = openBrowser();
    const { send, ask, advance, leads } = browser.openTab(1);
    send('a', 'outage');
    send('a', 'outage');
    const first = ask('a');
    const second = ask('a');
    await advance(1200);
    first.settle('outage');
    send('b', 'outage');
    await advance(1200);
    second.settle('success');
    expect(leads).toEqual([
      "1200 origin 'a' start",
      "2400 origin '' start",
      "2400 origin 'a' end",
      "2400 origin '' end",
    ]);
  });
});

test('an endpoint that is up with its origin is not said to be down any more', async () => {
  const browser = openBrowser();
  const leader = browser.openTab(1);
  const other = browser.openTab(2);
  leader.send('a', 'outage');
  leader.send('a', 'outage');
  const waiting = ['a', 'a', 'a'].map((endpoint) => leader.ask(endpoint));
  await leader.advance(1200);
  waiting[0]?.settle('outage');
  leader.send('b', 'outage');
  await leader.advance(1200);
  waiting[1]?.settle('success');
  // Something waits for something else: what holds is said again.
  leader.admission.origin.limits.pause('c', 20_000);
  leader.ask('c');
  await leader.advance(10_000);
  expect(other.ask('a').story).toEqual(['12400']);
});

// The other tab may be offline alone, in a session that its server refuses, or have a shorter time limit.
describe('a tab that was answered while another said that a server is down', () => {
  const words = [true, false].map((isProbed) => ({ kind: 'down', scope: '', isProbed }));

  /** A tab whose probe has just been answered. */
  async function refute(word: object) {
    const browser = openBrowser();
    const tab = browser.openTab(5);
    browser.post(word);
    const asked = tab.ask('a');
    await tab.advance(10_000);
    expect(asked.story).toHaveLength(1);
    asked.settle('success');
    return { ...tab, sayAgain: () => browser.post(word) };
  }

  test.each(words)('does not wait for that word again, with probe: $isProbed', async (word) => {
    const { ask, advance, sayAgain } = await refute(word);
    for (let second = 0; second < 20; second++) {
      sayAgain();
      const asked = ask('a');
      expect(asked.story).toHaveLength(1);
      asked.settle('success');
      await advance(1000);
    }
  });

  test.each(words)(
    'does so again once it has found an outage, with probe: $isProbed',
    async (word) => {
      const { ask, advance, send, sayAgain } = await refute(word);
      for (const endpoint of ['a', 'b']) send(endpoint, 'outage');
      const probe = ask('a');
      await advance(3000);
      expect(probe.story).toHaveLength(1);
      probe.settle('success');
      sayAgain();
      expect(ask('c').story).toEqual([]);
    },
  );

  test('does not doubt what it has found, too: the other one heard of its recovery', async () => {
    const browser = openBrowser();
    const { advance, ask } = browser.openTab(5);
    browser.post({ kind: 'down', scope: '', isProbed: false });
    const [first, second] = [ask('a'), ask('a')];
    await advance(1200);
    first.settle('outage');
    await advance(1200);
    second.settle('success');
    browser.post({ kind: 'down', scope: '', isProbed: false });
    expect(ask('c').story).toEqual([]);
  });
});
