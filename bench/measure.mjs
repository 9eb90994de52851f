import { fork } from 'node:child_process';
import { join } from 'node:path';

const worker = join(import.meta.dirname, 'worker.mjs');

// The garbage of a block (the largest is near 130 MiB) must fit into one half of the young generation.
const roomy = ['--expose-gc', '--min-semi-space-size=512', '--max-semi-space-size=512'];

/** Starts a contender in a process of its own, and warms it up. */
async function start(measurement, group, name, { warmUp, calls, execArgv = [] }) {
  const child = fork(worker, [measurement, group, name], {
    execArgv,
    env: { ...process.env, NODE_ENV: 'production' },
  });
  let reject;
  const failure = new Promise((_, fail) => (reject = fail));
  child.once('error', reject);
  child.once('exit', (code) => reject(new Error(`${name} ended with ${code}.`)));
  const answer = () => Promise.race([new Promise((done) => child.once('message', done)), failure]);
  const measure = (count) => {
    child.send(count);
    return answer();
  };

  await answer();
  for (let block = 0; block < warmUp; block++) await measure(calls);
  return {
    measure: () => measure(calls),
    end() {
      failure.catch(() => {});
      child.disconnect();
    },
  };
}

/**
 * Processor time: in every round each contender runs one block, in a turning order, so that a busy
 * machine disturbs all alike. A series begins with new processes, because the compiler does not
 * treat each process the same.
 *
 * @returns Per contender, for each round, the time of a call in microseconds.
 */
export async function measureCpu(group, names, { series, rounds, calls, warmUp }) {
  const figures = Object.fromEntries(names.map((name) => [name, []]));
  for (let index = 0; index < series; index++) {
    const running = [];
    for (const name of names) running.push(await start('cpu', group, name, { calls, warmUp }));
    for (let round = 0; round < rounds; round++) {
      for (let turn = 0; turn < names.length; turn++) {
        const next = (round + turn) % names.length;
        figures[names[next]].push(await running[next].measure());
      }
    }
    for (const process of running) process.end();
  }
  return figures;
}

/** Bytes allocated in a call, for each of some blocks. */
export async function measureGarbage(group, name, { blocks, calls, warmUp }) {
  const process = await start('garbage', group, name, { calls, warmUp, execArgv: roomy });
  const figures = [];
  while (figures.length < blocks) figures.push(await process.measure());
  process.end();
  return figures;
}

/** Timers set in a call. */
export async function countTimers(group, name) {
  const process = await start('timers', group, name, { calls: 100, warmUp: 1 });
  const timers = await process.measure();
  process.end();
  return timers;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
