import { expect, test } from 'vitest';
import { openOrigin, type Shown } from './rig.ts';

// What some rules of src/core/origin carry that nothing else shows.

test('what is left of a limit is less those that are under way and may not be counted yet', () => {
  const { ask, admission, clock } = openOrigin();
  const asked = [ask('a'), ask('a'), ask('a')];
  admission.allow('a', { remaining: 2, resetAt: clock.now() + 5000 });
  asked[0]?.settle('success');
  expect(ask('a').story).toEqual([]);
  const other = openOrigin();
  const alone = other.ask('a');
  other.admission.allow('a', { remaining: 2, resetAt: other.clock.now() + 5000 });
  alone.settle('success');
  expect(other.ask('a').story).toEqual(['0']);
});

test('an answer that was overtaken gives nothing of a limit back', () => {
  const { ask, admission, clock } = openOrigin();
  const resetAt = clock.now() + 5000;
  ask('a');
  admission.allow('a', { remaining: 1, resetAt });
  admission.allow('a', { remaining: 4, resetAt });
  expect([ask('a').story, ask('a').story]).toEqual([['0'], []]);
});

test('those whose time is up before their turn at a learned pace are not sent, least of all together', async () => {
  const { ask, admission, clock, advance } = openOrigin();
  admission.origin.limits.refuse('a', clock.now(), undefined);
  const asked = Array.from({ length: 20 }, () => ask('a', { maxPauseMs: 1000 }));
  await advance(3000);
  expect(asked.filter(({ story }) => !story[0]?.includes('expired'))).toHaveLength(3);
  expect(asked.at(-1)?.story).toEqual(['763 expired']);
});

/** An outage in which one endpoint is probed for so long, and each probe fails. */
async function failFor(ms: number) {
  const rig = openOrigin();
  rig.send('a', 'outage');
  rig.send('a', 'outage');
  const asked = Array.from({ length: 20 }, () => rig.ask('a'));
  const settle = (shown: Shown): void => {
    for (const one of asked) if (one.story.at(-1)?.endsWith('probe')) one.settle(shown);
  };
  for (let left = ms; left > 0; left -= 50) {
    await rig.advance(50);
    settle('outage');
  }
  const probes = (): number[] =>
    rig.log.filter((line) => line.endsWith('probe')).map(Number.parseFloat);
  return { ...rig, settle, probes };
}

test('what was sent before the end of an outage, and times out after it, begins no new one', async () => {
  const { ask, send, advance, admission } = openOrigin();
  const hanging = [ask('b'), ask('b'), ask('b')];
  send('a', 'outage');
  send('a', 'outage');
  const probe = ask('a');
  await advance(1200);
  probe.settle('success');
  for (const one of hanging) one.settle('timeout');
  expect(admission.origin.health.isDown('b')).toBe(false);
  // Without an outage before, so many time-outs are one.
  const other = openOrigin();
  const lost = [other.ask('b'), other.ask('b'), other.ask('b')];
  for (const one of lost) one.settle('timeout');
  expect(other.admission.origin.health.isDown('b')).toBe(true);
});

test('word of the network is no reason to ask a server that has answered with errors', async () => {
  const { ask, send, advance, admission, log } = openOrigin();
  for (const endpoint of ['a', 'a']) send(endpoint, 'outage');
  for (const endpoint of ['b', 'b']) send(endpoint, 'timeout');
  ask('a');
  admission.hastenProbes();
  await advance(1150);
  expect(log.filter((line) => line.endsWith('probe'))).toEqual([]);
});

test('two endpoints that fail at once are no lone failure: neither is retried fast', () => {
  const { ask, admission, send, clock } = openOrigin();
  for (const endpoint of ['a', 'b']) send(endpoint, 'success');
  clock.advance(1);
  const both = [ask('a'), ask('b')];
  both[0]?.settle('outage');
  expect(admission.origin.health.isAlone('a')).toBe(true);
  both[1]?.settle('outage');
  expect(admission.origin.health.isAlone('a')).toBe(false);
});

test('hidden pages do not probe in step: from 5 to 10 s after the beginning, by chance', async () => {
  const first = async (random: number): Promise<string | undefined> => {
    const { ask, send, advance, log } = openOrigin({}, () => random);
    send('a', 'outage');
    send('a', 'outage');
    ask('a', { isForeground: () => false });
    await advance(11_000);
    return log.find((line) => line.endsWith('probe'));
  };
  expect(await first(0)).toBe('5000 a probe');
  expect(await first(0.9)).toBe('9500 a probe');
});

test('after a probe that was called off the next one goes 2 s after it began, however long the outage', async () => {
  const { settle, advance, probes } = await failFor(27_300);
  await advance(100);
  settle('nothing');
  await advance(4000);
  expect(probes().slice(-2)).toEqual([27_350, 29_350]);
});

test('where nothing was sent with a probe, the next one goes at once', async () => {
  const { ask, send, advance, log } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const [first] = [ask('a'), ask('a')];
  await advance(1200);
  first?.giveBack();
  await advance(50);
  expect(log.slice(-2)).toEqual(['1200 a probe', '1200 a probe']);
});
