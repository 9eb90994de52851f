import { expect, test } from 'vitest';
import { createSimulation } from '../../sim/engine/simulation.ts';

test('what is due happens in the order of time, and at one moment in the order of its making', async () => {
  const simulation = createSimulation();
  const seen: string[] = [];
  const note = (name: string) => () => void seen.push(`${name} ${simulation.nowMs()}`);
  simulation.at(20, note('c'));
  simulation.at(10, note('a'));
  simulation.at(20, note('d'));
  simulation.at(15, note('b'));
  simulation.at(30, note('too late'));
  await simulation.run(30);
  expect(seen).toEqual(['a 10', 'b 15', 'c 20', 'd 20']);
  expect(simulation.nowMs()).toBe(30);
});

test('all that follows from an event without a timer has happened before the next one', async () => {
  const simulation = createSimulation();
  const seen: number[] = [];
  simulation.at(1, () => {
    const walk = async (): Promise<void> => {
      for (let step = 0; step < 100; step++) await Promise.resolve();
      seen.push(simulation.nowMs());
    };
    void walk();
  });
  simulation.at(2, () => void seen.push(simulation.nowMs()));
  await simulation.run(10);
  expect(seen).toEqual([1, 2]);
});

test('a timer that was cleared does nothing, and one without a delay takes a millisecond', async () => {
  const { clock, run, nowMs } = createSimulation();
  const seen: number[] = [];
  clock.clearTimeout(clock.setTimeout(() => void seen.push(-1), 5));
  clock.setTimeout(() => void seen.push(nowMs()), 0);
  await run(10);
  expect(seen).toEqual([1]);
});

test('an event that throws ends the run with its error', async () => {
  const simulation = createSimulation();
  const wrong = new Error('wrong');
  simulation.at(1, () => {
    throw wrong;
  });
  await expect(simulation.run(10)).rejects.toBe(wrong);
});
