import { describe, expect, test } from 'vitest';
import { gather } from './rig.ts';

describe('without a probe', () => {
  test('that the browser says offline holds nothing', () => {
    const one = gather();
    one.say('offline');
    expect(one.state()).toEqual(['suspect', 0, undefined]);
    expect(one.connectivity.network.permits()).toBe(Infinity);
    one.say('online');
    one.answer();
    expect(one.state()[0]).toBe('online');
  });

  test('nor does a failure, which is the origin’s own', () => {
    const one = gather();
    expect(one.fail().isItsDoing()).toBe(true);
    expect(one.state()[0]).toBe('suspect');
    expect(one.connectivity.network.permits()).toBe(Infinity);
    one.answer();
    expect(one.state()[0]).toBe('online');
  });

  test('both together do, and the failure is nobody’s', () => {
    const one = gather();
    one.say('offline');
    expect(one.fail().isItsDoing()).toBe(false);
    expect(one.state()).toEqual(['offline', 0, 2000]);
    expect(one.connectivity.network.permits()).toBe(0);
  });

  test('onLine is false and something has been answered since: it is not believed', () => {
    const one = gather({ isOffline: true });
    one.answer();
    one.clock.advance(3_600_000);
    expect(one.fail().isItsDoing()).toBe(true);
    expect(one.state()[0]).toBe('suspect');
  });

  test('on the browser’s online everything goes', () => {
    const one = gather({ isOffline: true });
    one.fail();
    one.clock.advance(100);
    one.say('online');
    expect(one.state()).toEqual(['suspect', 100, undefined]);
    expect(one.connectivity.network.permits()).toBe(Infinity);
  });

  test('while offline one goes to find out, ever later; where nobody waits it is only suspect', () => {
    const one = gather({ isOffline: true });
    one.fail();
    one.clock.advance(2000);
    expect(one.state()).toEqual(['suspect', 2000, undefined]);
    expect(one.connectivity.network.permits()).toBe(1);
    // Whoever comes first finds out, and nobody else goes until it has.
    one.connectivity.network.spend();
    expect(one.connectivity.network.permits()).toBe(0);
    expect(one.fail().isItsDoing()).toBe(false);
    expect(one.state()).toEqual(['offline', 2000, 6000]);
  });

  test('one that goes to find out and is answered opens the way', () => {
    const one = gather({ isOffline: true });
    one.fail();
    one.clock.advance(2000);
    one.connectivity.network.spend();
    one.clock.advance(50);
    one.answer();
    expect(one.state()).toEqual(['online', 2050, undefined]);
    expect(one.connectivity.network.permits()).toBe(Infinity);
  });

  test('one that is not heard of again within ten seconds has found nothing', () => {
    const one = gather({ isOffline: true });
    one.fail();
    one.clock.advance(2000);
    one.connectivity.network.spend();
    one.clock.advance(9999);
    expect(one.state()[0]).toBe('suspect');
    one.clock.advance(1);
    expect(one.state()).toEqual(['offline', 12_000, 16_000]);
  });

  test('checkNow lets one go at once', () => {
    const one = gather({ isOffline: true });
    one.fail();
    one.clock.advance(100);
    one.connectivity.checkNow();
    expect(one.connectivity.network.permits()).toBe(1);
  });
});

describe('where there is no page', () => {
  test('there is neither hint nor timer, and a failure is the origin’s', () => {
    const one = gather({ hasPage: false });
    expect(one.fail().isItsDoing()).toBe(true);
    expect(one.clock.pending()).toBe(0);
    one.answer();
    expect(one.state()[0]).toBe('online');
  });
});

test('dispose lets go what is held, and hears nothing more of the browser', () => {
  const one = gather({ isOffline: true });
  one.fail();
  one.connectivity.dispose();
  expect(one.connectivity.network.permits()).toBe(Infinity);
  expect(one.clock.pending()).toBe(0);
  one.say('offline');
  expect(one.state()[0]).toBe('online');
});
