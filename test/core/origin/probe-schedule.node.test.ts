import { expect, test } from 'vitest';
import { openOrigin } from './rig.ts';

test('where some wait always ends soon, the last probes are five seconds apart', async () => {
  const { ask, send, advance, log } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const asked: ReturnType<typeof ask>[] = [];
  for (let second = 0; second < 120; second++) {
    if (second % 5 === 0) asked.push(ask('a'), ask('a'));
    await advance(1000);
    for (const one of asked) if (one.story.at(-1)?.endsWith('probe')) one.settle('outage');
  }
  const probes = log.filter((line) => line.endsWith('probe')).map(Number.parseFloat);
  expect(probes).toEqual([
    1200, 2400, 5000, 8000, 12_000, 18_000, 27_000, 39_000, 51_000, 63_000, 75_000, 82_000, 87_000,
    92_000, 97_000, 102_000, 107_000, 112_000, 117_000,
  ]);
});

test('who gives up just when a probe is due is sent as that probe', async () => {
  const { ask, send, advance } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const asked = ask('a', { maxPauseMs: 1200 });
  await advance(1200);
  expect(asked.story).toEqual(['1200 probe']);
});

test('of two probes that are under way at once, the later one says when the next one comes', async () => {
  const { ask, send, advance } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const hanging = ask('a');
  const impatient = ask('a', { maxPauseMs: 12_000 });
  const other = ask('a');
  await advance(9000);
  expect([hanging.story, impatient.story]).toEqual([['1200 probe'], ['9000 probe']]);
  hanging.settle('outage');
  await advance(1000);
  expect(other.paused()).toBe('server-down NaN');
  impatient.settle('outage');
  await advance(50);
  expect(other.paused()).toBe('server-down 14000');
});

/** A user asks again: the pause is of the endpoint, or of its origin. */
const hasten = ({ admission }: ReturnType<typeof openOrigin>): void => {
  admission.origin.health.downFor({ endpoint: 'a', risk: 0 })?.probes.hasten();
  admission.reconsider();
};

test.each([
  ['1.3 s ago', 6700, 6700],
  ['half a second ago', 5900, 6600],
  ['now', 5400, 6600],
])(
  'a user who asks again has it probed at once, or 1.2 s after a probe that began %s',
  async (_ago, at, probedAt) => {
    const rig = openOrigin();
    const { ask, send, advance } = rig;
    send('a', 'outage');
    send('a', 'outage');
    const asked = Array.from({ length: 6 }, () => ask('a'));
    const fail = (): void => {
      for (const one of asked) one.settle('outage');
    };
    for (const ms of [1200, 1200, 1200, 1800]) {
      await advance(ms);
      fail();
    }
    await advance(at - 5400);
    hasten(rig);
    await advance(probedAt - at);
    expect(rig.log.at(-1)).toBe(`${probedAt} a probe`);
    fail();
    // The gaps are those of a new outage.
    await advance(1200);
    expect(rig.log.at(-1)).toBe(`${probedAt + 1200} a probe`);
  },
);

test('word of the network ten times a second is a probe each second, and no more', async () => {
  const network = { kind: 'network', processed: 'unknown' } as const;
  const { admission, ask, advance, log } = openOrigin();
  const target = { endpoint: 'a', resource: 'a', limitScope: 'a', isNew: true, risk: 0 } as const;
  for (let failures = 0; failures < 2; failures++) admission.enter(target)?.end(network);
  for (let waiting = 0; waiting < 9; waiting++) ask('a');
  for (let tenth = 0; tenth < 40; tenth++) {
    admission.hastenProbes();
    await advance(100);
  }
  expect(log).toEqual(['0 a probe', '1200 a probe', '2300 a probe', '3400 a probe']);
});
