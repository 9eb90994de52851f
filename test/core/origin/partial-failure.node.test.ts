import { describe, expect, test } from 'vitest';
import type { Ask } from '../../../src/core/origin/ask.ts';
import { stateOf } from '../../../src/core/origin/status.ts';
import { openOrigin, type Shown } from './rig.ts';

test('two failures of one endpoint in a row pause that endpoint, and no other', async () => {
  const { admission, ask, send, advance, log } = openOrigin();
  send('widget', 'outage');
  send('widget', 'outage');
  expect(admission.origin.health.isDown('widget')).toBe(true);
  const widget = ask('widget');
  const orders = ask('orders');
  await advance(1000);
  expect(orders.story).toEqual(['0']);
  expect(widget.paused()).toBe('server-down 1200');
  expect(stateOf(admission.origin)).toEqual({ status: 'up', retryAt: undefined, waiting: 1 });
  await advance(200);
  expect(log).toEqual(['0 widget', '0 widget', '0 orders', '1200 widget probe']);
});

test('failures of different endpoints take the origin down, if none was answered in between', () => {
  const one = openOrigin();
  one.send('a', 'outage');
  one.send('b', 'outage');
  expect(one.admission.origin.health.isDown('c')).toBe(true);

  const other = openOrigin();
  other.send('a', 'outage');
  other.send('c', 'success');
  other.send('b', 'outage');
  expect(other.admission.origin.health.isDown('c')).toBe(false);
});

test('the failed probe of an endpoint that was broken before says nothing of its origin', async () => {
  const { admission, send, ask, advance } = openOrigin();
  send('widget', 'outage');
  send('widget', 'outage');
  const widget = ask('widget');
  await advance(1000);
  send('orders', 'success');
  send('orders', 'outage');
  await advance(200);
  expect(widget.story).toEqual(['1200 probe']);
  widget.settle('outage');
  expect(admission.origin.health.isDown('widget')).toBe(true);
  expect(admission.origin.health.isDown('orders')).toBe(false);
  expect(admission.origin.health.isDown('products')).toBe(false);
});

test('however often the probes of a broken endpoint fail, one failure of another one takes nothing down', async () => {
  const { admission, send, ask, advance } = openOrigin();
  send('widget', 'outage');
  send('widget', 'outage');
  send('orders', 'success');
  for (let probes = 0; probes < 5; probes++) {
    const widget = ask('widget');
    await advance(15_000);
    expect(widget.story).toHaveLength(1);
    widget.settle('outage');
  }
  send('orders', 'outage');
  expect(admission.origin.health.isDown('widget')).toBe(true);
  expect(admission.origin.health.isDown('orders')).toBe(false);
  expect(admission.origin.health.isDown('products')).toBe(false);
});

test('a good answer that comes after the trip closes it, if it was sent no earlier than what failed', () => {
  const { admission, ask, clock } = openOrigin();
  const early = ask('a');
  clock.advance(1);
  const failing = [ask('a'), ask('a')];
  const late = ask('a');
  for (const { settle } of failing) settle('outage');
  expect(admission.origin.health.isDown('a')).toBe(true);
  early.settle('success');
  expect(admission.origin.health.isDown('a')).toBe(true);
  late.settle('success');
  expect(admission.origin.health.isDown('a')).toBe(false);
});

test('that an origin is not down, any answer shows, also an error of the app', () => {
  const { admission, ask, send } = openOrigin();
  const early = ask('slow');
  send('a', 'outage');
  send('b', 'outage');
  expect(admission.origin.health.isDown('slow')).toBe(true);
  early.settle('alive');
  expect(admission.origin.health.isDown('a')).toBe(false);
});

test('the probe of an origin is of the endpoint that has failed least: a broken one does not keep it down', async () => {
  const { admission, ask, send, advance, log } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  send('b', 'outage');
  expect(admission.origin.health.isDown('c')).toBe(true);
  const broken = ask('a');
  const healthy = ask('b');
  await advance(1200);
  expect(log.slice(3)).toEqual(['1200 b probe']);
  healthy.settle('success');
  await advance(1000);
  expect(broken.story).toHaveLength(1);
});

test('where every fifth attempt fails anyway, seven failures in a row are an outage, and not six', () => {
  const { admission, send } = openOrigin();
  for (let round = 0; round < 100; round++) {
    for (let good = 0; good < 4; good++) send('a', 'success', 1);
    send('a', 'outage', 1);
  }
  for (let good = 0; good < 6; good++) send('a', 'success', 1);
  for (let failures = 0; failures < 6; failures++) send('a', 'outage', 1);
  expect(admission.origin.health.isDown('a')).toBe(false);
  send('a', 'outage', 1);
  expect(admission.origin.health.isDown('a')).toBe(true);
});

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'] as const;

test.each([2, 3, 5, 9])(
  'beside %i endpoints that are broken, what has not failed goes at once, and its origin is up',
  async (count) => {
    const { admission, ask, send, advance } = openOrigin();
    const broken = names.slice(0, count).map((endpoint) => {
      send(endpoint, 'outage');
      return ask(endpoint);
    });
    expect(stateOf(admission.origin).status).toBe('down');
    for (let healthy = 0; healthy < 6; healthy++) {
      const asked = ask(`healthy ${healthy}`);
      const at = `${6000 * healthy}`;
      expect(asked.story).toEqual([at]);
      asked.settle('success');
      // All that is broken is let go, and fails again.
      for (let turn = 0; turn < 60; turn++) {
        await advance(100);
        for (const one of broken) one.settle('outage');
      }
      expect(stateOf(admission.origin).status).toMatch(/^(up|recovering)$/);
    }
    for (const endpoint of names.slice(0, count))
      expect(admission.origin.health.isDown(endpoint)).toBe(true);
  },
);

test('where nothing is answered, each endpoint fails once, and is then probed for with the others', async () => {
  const { admission, ask, send, advance, log } = openOrigin();
  for (const endpoint of names) send(endpoint, 'outage');
  expect(admission.origin.health.isDown('a')).toBe(true);
  for (const endpoint of names) ask(endpoint);
  await advance(1200);
  expect(log.slice(names.length)).toEqual(['1200 a probe']);
});

describe('a press of Save while the origin is down', () => {
  const press = { risk: 2, isNew: true } as const;
  test.each<[string, Shown[], number, Partial<Ask>, string]>([
    ['its endpoint has never been asked', [], 0, press, '0'],
    ['its endpoint has failed', ['outage'], 1200, press, '1200'],
    ['its endpoint is down by itself', ['outage', 'outage'], 1200, press, '1200'],
    ['its endpoint has failed just now', ['outage'], 400, press, '1200'],
    ['it is sent again after a refusal', ['outage'], 400, { ...press, isNew: false }, '1200 probe'],
    ['it may be repeated, so it waits', ['outage'], 400, { ...press, risk: 1 }, '1200 probe'],
  ])('%s', async (_name, before, pressedAt, options, expected) => {
    const { ask, send, advance } = openOrigin();
    for (const shown of before) send('save', shown);
    send('a', 'outage');
    send('b', 'outage');
    await advance(pressedAt);
    const order = ask('save', options);
    await advance(1200);
    expect(order.story).toEqual([expected]);
  });

  test('goes as often as it is pressed, but for the shortest gap, and is never sent again after the outage', async () => {
    const { ask, send, advance } = openOrigin();
    send('a', 'outage');
    send('b', 'outage');
    const presses = [ask('save', press)];
    for (let second = 0; second < 3; second++) {
      presses.at(-1)?.settle('outage');
      await advance(2000);
      presses.push(ask('save', press));
    }
    presses.at(-1)?.settle('success');
    await advance(60_000);
    expect(presses.map(({ story }) => story)).toEqual([['0'], ['2000'], ['4000'], ['6000']]);
  });

  test('does not wait for the probe of another tab that has found the outage', () => {
    const { admission, ask } = openOrigin();
    admission.origin.health.follow('');
    expect([ask('save', press).story, ask('list').story]).toEqual([['0'], []]);
  });
});

describe('an outage that another tab has found', () => {
  const one = { resource: '/items/1' };
  const other = { resource: '/items/2' };

  test('of an endpoint, holds back only the URLs that have failed here', async () => {
    const { admission, ask, advance } = openOrigin();
    admission.origin.health.follow('items');
    const first = ask('items', one);
    expect([first.story, ask('items', other).story]).toEqual([['0'], ['0']]);
    first.settle('outage');
    await advance(1);
    expect([ask('items', one).story, ask('lists').story]).toEqual([[], ['1']]);
  });

  test('of the origin, holds back all but what need not leave the device', () => {
    const { admission, ask } = openOrigin();
    admission.origin.health.follow('');
    const stories = [ask('items', one), ask('lists'), ask('local', { mayBeOffline: true })];
    expect(stories.map(({ story }) => story)).toEqual([[], [], ['0']]);
  });
});

test('a broken endpoint that is let go with the others, and fails slowly, slows none of them down', async () => {
  const { ask, send, advance } = openOrigin();
  for (const endpoint of ['a', 'b', 'c', 'd', 'e']) send(endpoint, 'outage');
  const waiting = ['c', 'a', 'b', 'd', 'e'].map((endpoint) => ask(endpoint));
  const [probe, broken, ...healthy] = waiting;
  await advance(1200);
  probe?.settle('success');
  await advance(200);
  for (const one of healthy) one.settle('success');
  await advance(200);
  broken?.settle('outage');
  for (let turn = 0; turn < 20; turn++) {
    await advance(50);
    for (const one of healthy) one.settle('success');
  }
  expect(waiting.map(({ story }) => story.length)).toEqual([1, 1, 1, 1, 1]);
});

test('an endpoint that is down again as it is let go does not let the others go at once', async () => {
  const { ask, send, advance } = openOrigin();
  for (const endpoint of ['a', 'b', 'c']) send(endpoint, 'outage');
  const waiting = ['c', 'a', 'b', 'b', 'b', 'b', 'b'].map((endpoint) => ask(endpoint));
  const [probe, broken, ...others] = waiting;
  await advance(1200);
  probe?.settle('success');
  await advance(50);
  broken?.settle('outage');
  await advance(2000);
  const times = others.map(({ story }) => story[0]);
  expect(new Set(times).size).toBe(others.length);
});

test('an origin of which all that was asked within a minute is down is down, and up as soon as another one is asked', async () => {
  const { admission, ask, send, advance } = openOrigin();
  for (const endpoint of ['a', 'b']) {
    send('orders', 'success', 1);
    send(endpoint, 'outage', 1);
    send(endpoint, 'outage', 1);
  }
  expect(stateOf(admission.origin).status).toBe('up');
  const waiting = [ask('a'), ask('b')];
  for (let second = 0; second < 60; second++) {
    await advance(1000);
    for (const one of waiting) one.settle('outage');
    for (const endpoint of ['a', 'b'] as const) waiting.push(ask(endpoint));
  }
  expect(stateOf(admission.origin).status).toBe('down');
  ask('orders');
  expect(stateOf(admission.origin).status).toBe('up');
});

describe('a URL of an endpoint', () => {
  const endpoint = 'GET /items/:id';
  const item = (id: number, options: Partial<Ask> = {}) =>
    [endpoint, { resource: `GET /items/${id}`, ...options }] as const;

  test('that has not failed goes at once, beside two that have', async () => {
    const { admission, ask, advance } = openOrigin();
    for (const id of [1, 2]) ask(...item(id)).settle('outage');
    expect(admission.origin.health.isDown(endpoint)).toBe(true);
    const [broken, other] = [ask(...item(1)), ask(...item(3))];
    await advance(0);
    expect([broken.story, other.story]).toEqual([[], ['0']]);
  });

  test('that fails while others answer takes down neither its endpoint nor its origin', () => {
    const { admission, ask, send } = openOrigin();
    for (let round = 0; round < 5; round++) {
      for (const id of [1, 4, 7]) ask(...item(id)).settle('outage');
      ask(...item(2)).settle('success');
    }
    for (const id of [1, 4, 7, 1, 4, 7]) ask(...item(id)).settle('outage');
    send('other', 'outage');
    expect([
      admission.origin.health.isDown(endpoint),
      admission.origin.health.isDown('other'),
    ]).toEqual([false, false]);
  });

  test('that has failed least is probed first, so the broken one does not keep the others down', async () => {
    const { ask, advance } = openOrigin();
    for (const id of [1, 1, 2]) ask(...item(id)).settle('outage');
    const [broken, healthy] = [ask(...item(1)), ask(...item(2))];
    await advance(1200);
    expect([broken.story, healthy.story]).toEqual([[], ['1200 probe']]);
    healthy.settle('success');
    await advance(1000);
    expect(broken.story).toHaveLength(1);
  });

  test('is one of those of an operation that is sent again under another URL', async () => {
    const { ask, advance } = openOrigin();
    for (const id of [1, 2]) ask(...item(id)).settle('outage');
    const again = ask(...item(3, { isNew: false }));
    await advance(1200);
    expect(again.story).toEqual(['1200 probe']);
  });

  test('goes once more for each of hundreds in a real outage, and then waits', async () => {
    const { ask, log, advance } = openOrigin();
    for (let id = 0; id < 300; id++) ask(...item(id)).settle('outage');
    const waiting = Array.from({ length: 300 }, (_, id) => ask(...item(id)));
    await advance(1200);
    expect(log.slice(300)).toEqual([`1200 ${endpoint} probe`]);
    waiting[0]?.settle('success');
    await advance(2000);
    expect(waiting.every(({ story }) => story.length === 1)).toBe(true);
  });

  test('that answers proves nothing for another operation of the same URL', () => {
    const { admission, ask } = openOrigin();
    ask('POST /graphql').settle('success');
    for (let round = 0; round < 2; round++) ask('POST /graphql').settle('outage');
    expect(admission.origin.health.isDown('POST /graphql')).toBe(true);
  });
});
