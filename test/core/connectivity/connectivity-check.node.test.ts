import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Random } from '../../../src/core/lib/clock.ts';
import { seededRandom } from '../../../src/testing/seeded-random.ts';
import { gather } from './rig.ts';

const withProbe = (isOffline = false, random: Random = () => 0.5) =>
  gather({ hasProbe: true, isOffline, random });

/** A device that the browser says is offline, and whose probe has failed at 0. */
async function goOffline(random?: Random) {
  const one = withProbe(false, random);
  one.say('offline');
  await one.end('failed');
  return one;
}

describe('with a probe', () => {
  test('a page that loads online sends none', () => {
    const { probes, state, clock } = withProbe();
    clock.advance(600_000);
    expect(probes).toEqual([]);
    expect(state()).toEqual(['online', 0, undefined]);
    expect(clock.fired()).toBe(0);
  });

  test('a page that loads offline asks at once, and knows it when the probe fails', async () => {
    const one = withProbe(true);
    expect(one.probes).toEqual([0]);
    expect(one.state()).toEqual(['suspect', 0, undefined]);
    await one.end('failed');
    expect(one.state()).toEqual(['offline', 0, 2000]);
    expect(one.connectivity.network.isOffline()).toBe(true);
  });

  test('the browser says offline, and the probe is answered: nothing was ever held', async () => {
    const one = withProbe();
    one.say('offline');
    expect(one.connectivity.network.isOffline()).toBe(false);
    await one.end('reached');
    expect(one.story).toEqual(['0 suspect', '0 online']);
  });

  test('while offline it asks again, ever later, and at last every ten seconds: with their jitter a user waits for none longer than 15 s', async () => {
    const one = await goOffline();
    for (let times = 0; times < 6; times++) {
      one.clock.advance(40_000);
      await one.end('failed');
    }
    // The clock goes on while a probe is under way: from one failure to the next probe is the wait.
    const ends = [0, 40_000, 80_000, 120_000, 160_000, 200_000];
    expect(one.probes.slice(1).map((at, index) => at - (ends[index] ?? 0))).toEqual([
      2000, 4000, 8000, 10_000, 10_000, 10_000,
    ]);
  });

  test('the waits are drawn, from half to one and a half of it', async () => {
    const least = gather({ hasProbe: true, isOffline: true, random: () => 0 });
    const most = gather({ hasProbe: true, isOffline: true, random: () => 1 });
    await least.end('failed');
    await most.end('failed');
    expect([least.state()[2], most.state()[2]]).toEqual([1000, 3000]);
    const nextOf = async (seed: number): Promise<number | undefined> => {
      const one = gather({ hasProbe: true, isOffline: true, random: seededRandom(seed) });
      await one.end('failed');
      return one.state()[2];
    };
    expect(await nextOf(1)).not.toBe(await nextOf(2));
  });

  test.each(['online', 'visible'] as const)('on %s it asks at once', async (event) => {
    const one = await goOffline();
    one.clock.advance(500);
    one.say(event);
    expect(one.probes).toEqual([0, 500]);
    await one.end('reached');
    expect(one.state()).toEqual(['online', 500, undefined]);
    expect(one.connectivity.network.isOffline()).toBe(false);
  });

  test('seen again while online, it sends nothing', () => {
    const one = withProbe();
    one.say('visible');
    expect(one.probes).toEqual([]);
  });

  test('checkNow asks at once, and only once while that is under way', async () => {
    const one = await goOffline();
    one.clock.advance(500);
    one.connectivity.checkNow();
    one.connectivity.checkNow();
    expect(one.probes).toEqual([0, 500]);
    // While it is being asked, nobody knows when it is asked next.
    expect(one.state()).toEqual(['offline', 0, undefined]);
    await one.end('failed');
    expect(one.state()).toEqual(['offline', 0, 4500]);
  });

  test.each([
    // React Query alone sends its requests 0, 1, 3 and 7 s after the browser's `online`.
    [() => 0, [0, 1000, 3000, 7000]],
    [() => 1, [0, 1050, 3150, 7350]],
  ])(
    'the browser is early with its online: three more looks, as early as React Query would send its requests, then it is believed',
    async (random, expected) => {
      const one = await goOffline(random);
      one.clock.advance(500);
      one.say('online');
      const story = [];
      for (let times = 0; times < 4; times++) {
        await one.end('failed');
        story.push(`${one.clock.elapsed() - 500} ${one.state()[0]}`);
        one.clock.advance((one.state()[2] ?? 0) - one.clock.elapsed());
      }
      expect(one.probes.slice(1).map((at) => at - 500)).toEqual(expected);
      const told = ['offline', 'offline', 'offline', 'suspect'];
      expect(story).toEqual(expected.map((at, index) => `${at} ${told[index]}`));
      expect(one.connectivity.network.isOffline()).toBe(false);
    },
  );

  test('a probe that was sent before the browser spoke proves nothing', async () => {
    const one = withProbe();
    one.fail();
    expect(one.probes).toEqual([0]);
    const before = one.end;
    one.say('offline');
    expect(one.probes).toEqual([0, 0]);
    await before('failed');
    expect(one.state()[0]).toBe('offline');
  });

  test('a failure alone starts the probe; when that fails, too, it is only suspect', async () => {
    const one = withProbe();
    const failure = one.fail();
    expect(one.probes).toEqual([0]);
    expect(failure.isItsDoing()).toBe(undefined);
    await one.end('failed');
    // With the browser saying nothing, the probe may have gone to the server that is down.
    expect(one.state()).toEqual(['suspect', 0, undefined]);
    expect(failure.isItsDoing()).toBe(true);
    one.clock.advance(600_000);
    expect(one.probes).toEqual([0]);
  });

  test('one origin is down and the probe is answered: online, and it is the origin', async () => {
    const one = withProbe();
    const failure = one.fail();
    await one.end('reached');
    expect(one.story).toEqual(['0 suspect', '0 online']);
    expect(failure.isItsDoing()).toBe(true);
  });

  test('when another origin has answered in the meantime, nobody need be asked', () => {
    const one = withProbe();
    one.clock.advance(100);
    one.answer();
    one.clock.advance(100);
    expect(one.fail(50).isItsDoing()).toBe(true);
    expect(one.story).toEqual([]);
    expect(one.probes).toEqual([]);
  });

  test('failures of a device that is offline are nobody else’s, and ask nothing', async () => {
    const one = withProbe();
    one.say('offline');
    const [first, second] = [one.fail(), one.fail()];
    await one.end('failed');
    const late = one.fail();
    expect([first, second, late].map(({ isItsDoing }) => isItsDoing())).toEqual([
      false,
      false,
      false,
    ]);
    expect(one.probes).toEqual([0]);
  });

  test('what was sent before the network was back, and fails after it, is nobody’s', async () => {
    const one = await goOffline();
    one.clock.advance(2000);
    await one.end('reached');
    one.clock.advance(5000);
    expect(one.fail(1999).isItsDoing()).toBe(false);
    expect(one.state()[0]).toBe('online');
    expect(one.fail(2001).isItsDoing()).toBe(undefined);
  });

  test('an answer of a request that was forced out proves the network', async () => {
    const one = await goOffline();
    one.clock.advance(700);
    one.answer();
    expect(one.state()).toEqual(['online', 700, undefined]);
    one.clock.advance(60_000);
    expect(one.probes).toEqual([0]);
  });

  test('an answer that was on its way when the browser spoke proves nothing', () => {
    const one = withProbe();
    one.clock.advance(1000);
    one.say('offline');
    one.answer(999);
    expect(one.state()[0]).toBe('suspect');
    one.answer(1000);
    expect(one.state()[0]).toBe('online');
  });

  test('onLine is false and the network works: from its first answer on, failures are the origin’s', async () => {
    const one = withProbe(true);
    await one.end('reached');
    one.clock.advance(60_000);
    const failure = one.fail();
    await one.end('failed');
    expect(one.state()[0]).toBe('suspect');
    expect(failure.isItsDoing()).toBe(true);
  });

  test('a captive portal is offline whatever the browser says, until the probe is answered as it must be', async () => {
    const one = withProbe();
    one.fail();
    await one.end('captive');
    expect(one.state()).toEqual(['offline', 0, 1025]);
    // It answers everything with its own page.
    one.answer(0, 'http://api.example/a');
    expect(one.state()[0]).toBe('offline');
    for (let times = 0; times < 6; times++) {
      one.clock.advance(60_000);
      expect(one.connectivity.network.isOffline()).toBe(true);
      await one.end('captive');
    }
    one.clock.advance(60_000);
    await one.end('reached');
    expect(one.state()[0]).toBe('online');
  });

  test('after four looks in vain it also asks an origin that got no answer: the probe may be wrong', async () => {
    const one = await goOffline();
    one.fail();
    for (let times = 0; times < 3; times++) {
      one.clock.advance(60_000);
      await one.end('failed');
    }
    expect(one.looks).toEqual([]);
    one.clock.advance(60_000);
    // First the probe, then the origin.
    await one.end('failed');
    expect(one.looks).toEqual(['240000 https://api.example']);
    expect(one.state()[0]).toBe('offline');
    await one.end('reached');
    expect(one.state()).toEqual(['online', 240_000, undefined]);
  });

  test.each([
    ['https://app.example/page', ['240000 https://app.example']],
    // They answer a device that is offline, too.
    ['http://localhost:3000/', []],
    ['http://127.0.0.1/', []],
    ['http://app.localhost:3000/', []],
    ['http://[::1]:3000/', []],
    // There is nobody to ask.
    ['file:///index.html', []],
    ['capacitor://localhost/', []],
  ])('where nothing has failed, the origin of the page: %s', async (href, looks) => {
    vi.stubGlobal('origin', new URL(href).origin);
    onTestFinished(() => void vi.unstubAllGlobals());
    const one = await goOffline();
    for (let times = 0; times < 4; times++) {
      one.clock.advance(60_000);
      await one.end('failed');
    }
    expect(one.looks).toEqual(looks);
    expect(one.state()[0]).toBe('offline');
  });

  test('an answer over https ends a portal, which has not the certificate for it', async () => {
    const one = withProbe();
    one.fail();
    await one.end('captive');
    one.clock.advance(100);
    one.answer(100, 'https://api.example/a');
    expect(one.state()).toEqual(['online', 100, undefined]);
    one.clock.advance(60_000);
    expect(one.probes).toEqual([0]);
  });

  test('a portal is not asked for any answer: it gives one', async () => {
    const one = await goOffline();
    one.fail();
    one.clock.advance(2000);
    await one.end('captive');
    for (let times = 0; times < 6; times++) {
      one.clock.advance(60_000);
      expect(one.looks).toEqual([]);
      await one.end(times < 5 ? 'captive' : 'failed');
    }
    expect(one.state()[0]).toBe('offline');
    expect(one.looks).toEqual([]);
  });

  test('a laptop that slept asks on waking, once', async () => {
    const one = await goOffline();
    one.clock.sleep(3_600_000);
    one.clock.advance(2000);
    expect(one.probes).toEqual([0, 3_602_000]);
  });
});

describe('a browser that changes its mind all the time', () => {
  test('a hundred events at once send three probes, and one is under way', () => {
    const one = gather({ hasProbe: true });
    for (let index = 0; index < 50; index++) {
      one.say('offline');
      one.say('online');
    }
    expect([one.probes, one.underWay()]).toEqual([[0, 0, 0], 0]);
    expect(one.state()).toEqual(['suspect', 0, 2000]);
    one.clock.advance(2000);
    expect([one.probes, one.underWay()]).toEqual([[0, 0, 0, 2000], 1]);
  });

  test('ten in a second for ten seconds are a probe in two seconds, after the first three', () => {
    const one = gather({ hasProbe: true });
    for (let index = 0; index < 100; index++) {
      one.say(index % 2 === 0 ? 'offline' : 'online');
      one.clock.advance(100);
    }
    expect(one.probes).toEqual([0, 100, 200, 2000, 4000, 6000, 8000, 10_000]);
  });

  test('an answer that comes to the last one tells', async () => {
    const one = gather({ hasProbe: true });
    for (let index = 0; index < 50; index++) {
      one.say('offline');
      one.say('online');
    }
    one.clock.advance(2000);
    await one.end('reached');
    expect(one.state()).toEqual(['online', 2000, undefined]);
    one.clock.advance(60_000);
    expect(one.probes.length).toBe(4);
  });

  test('nor does a tab that is hidden and shown while offline', async () => {
    const one = gather({ hasProbe: true, isOffline: true });
    await one.end('failed');
    for (let index = 0; index < 50; index++) {
      one.say('visible');
      await one.end('failed');
    }
    expect(one.probes).toEqual([0, 0, 0]);
  });
});

test('dispose calls off the probe that is under way', () => {
  const one = gather({ hasProbe: true, isOffline: true });
  expect(one.underWay()).toBe(1);
  one.connectivity.dispose();
  expect(one.underWay()).toBe(0);
});
