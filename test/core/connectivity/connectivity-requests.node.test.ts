import { describe, expect, test } from 'vitest';
import { gather } from './rig.ts';

describe('without a probe', () => {
  test('that the browser says offline holds nothing', () => {
    const one = gather();
    one.say('offline');
    expect(one.state()).toEqual(['suspect', 0, undefined]);
    expect(one.connectivity.network.isOffline()).toBe(false);
    one.say('online');
    one.answer();
    expect(one.state()[0]).toBe('online');
  });

  test('nor does a failure, which is the origin’s own', () => {
    const one = gather();
    expect(one.fail().isItsDoing()).toBe(true);
    expect(one.state()[0]).toBe('suspect');
    expect(one.connectivity.network.isOffline()).toBe(false);
    one.answer();
    expect(one.state()[0]).toBe('online');
  });

  test('both together do, and the failure is nobody’s', async () => {
    const one = gather();
    one.say('offline');
    const failure = one.fail();
    await one.end('failed');
    expect(failure.isItsDoing()).toBe(false);
    expect(one.state()).toEqual(['offline', 0, 2000]);
    expect(one.connectivity.network.isOffline()).toBe(true);
  });

  const remote = 'https://api.example';
  const local = 'http://localhost:80';
  test.each([
    ['a known origin', [remote], remote],
    ['another one than that of the device', [local, remote], remote],
    ['that of the device where there is no other', [local], local],
  ])(
    'when the browser says offline it asks %s, and believes the browser where that fails',
    async (...row) => {
      const [, origins, asked] = row;
      const one = gather({ known: origins });
      one.say('offline');
      expect(one.looks).toEqual([`0 ${asked}`]);
      await one.end('failed');
      expect(one.state()).toEqual(['offline', 0, 2000]);
    },
  );

  test('an answer to that refutes the browser until its next event', async () => {
    const one = gather({ known: [remote] });
    one.say('offline');
    await one.end('reached');
    expect(one.state()[0]).toBe('online');
    expect(one.fail(10).isItsDoing()).toBe(true);
    one.say('offline');
    expect(one.state()[0]).toBe('suspect');
    expect(one.looks).toHaveLength(2);
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
    expect(one.connectivity.network.isOffline()).toBe(false);
  });

  test('while offline it asks the origin that got no answer, ever later, and nobody is let go', async () => {
    const one = gather({ isOffline: true });
    one.fail(0, 'https://api.example/a?b');
    expect(one.looks).toEqual([]);
    one.clock.advance(1999);
    expect(one.looks).toEqual([]);
    for (let times = 0; times < 3; times++) {
      one.clock.advance(60_000);
      expect(one.state()[0]).toBe('offline');
      expect(one.connectivity.network.isOffline()).toBe(true);
      await one.end('failed');
    }
    expect(one.state()).toEqual(['offline', 0, 181_999 + 10_000]);
    const where = 'https://api.example';
    expect(one.looks).toEqual([`2000 ${where}`, `65999 ${where}`, `129999 ${where}`]);
  });

  test('where it is answered, all go', async () => {
    const one = gather({ isOffline: true });
    one.fail();
    one.clock.advance(2050);
    await one.end('reached');
    expect(one.state()).toEqual(['online', 2050, undefined]);
    expect(one.connectivity.network.isOffline()).toBe(false);
  });

  test('a machine that has slept looks within two seconds of waking', async () => {
    const one = gather({ isOffline: true });
    one.fail();
    for (let times = 0; times < 3; times++) {
      one.clock.advance(60_000);
      await one.end('failed');
    }
    const [, , nextMs = 0] = one.state();
    one.clock.sleep(3_600_000);
    one.clock.advance(2000);
    expect(one.looks.at(-1)).toBe(`${3_600_000 + 180_000 + 2000} https://api.example`);
    expect(nextMs).toBeGreaterThan(180_000 + 2000);
  });

  test('a failure of what went all the same, while it asks, is nobody’s when nothing is found', async () => {
    const one = gather({ isOffline: true });
    one.fail();
    one.clock.advance(2000);
    const failure = one.fail();
    expect(failure.isItsDoing()).toBeUndefined();
    await one.end('failed');
    expect(failure.isItsDoing()).toBe(false);
    expect(one.looks).toEqual(['2000 https://api.example']);
  });

  test('it asks whoever failed last', () => {
    const one = gather({ isOffline: true });
    one.fail();
    one.fail(0, 'https://other.example/b');
    one.clock.advance(2000);
    expect(one.looks).toEqual(['2000 https://other.example']);
  });

  test('then it asks the others that requests have gone to, in turn, but none that the device itself answers', async () => {
    const [api, cdn, dev] = ['https://api.example', 'https://cdn.example', 'http://localhost:80'];
    const known = [cdn, api, dev, 'capacitor://localhost', 'https://c.example'];
    const one = gather({ isOffline: true, known });
    one.fail(0, `${api}/a`);
    for (let times = 0; times < 4; times++) {
      one.clock.advance(60_000);
      await one.end('failed');
    }
    const asked = one.looks.map((look) => look.split(' ')[1]);
    expect(asked).toEqual([api, cdn, 'https://c.example', api]);
  });

  test('a failure of what is not on the network says nothing of it', () => {
    const one = gather({ isOffline: true });
    expect(one.fail(0, 'capacitor://localhost/a').isItsDoing()).toBe(true);
    expect(one.state()[0]).toBe('suspect');
  });

  test('checkNow asks at once', () => {
    const one = gather({ isOffline: true });
    one.connectivity.checkNow();
    expect(one.looks).toEqual([]);
    one.fail();
    one.clock.advance(100);
    one.connectivity.checkNow();
    one.connectivity.checkNow();
    expect(one.looks).toEqual(['100 https://api.example']);
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

test('dispose lets go what is paused, and hears nothing more of the browser', () => {
  const one = gather({ isOffline: true });
  one.fail();
  one.connectivity.dispose();
  expect(one.connectivity.network.isOffline()).toBe(false);
  expect(one.clock.pending()).toBe(0);
  one.say('offline');
  expect(one.state()[0]).toBe('online');
});
