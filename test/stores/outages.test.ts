import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { driverNames, type Fleet, openFile, type Reply, startFleet } from './fleet.ts';
import { type Drivers, startDrivers } from './shared-stores.ts';

const drivers = startDrivers();
const outageMs = 10_000;

/**
 * Stops all processes of PostgreSQL and of Redis, as a machine does that swaps. They keep their connections.
 * Another process keeps the file of SQLite.
 */
async function freeze(
  { postgres, redis, pool }: Drivers,
  folder: string,
): Promise<() => Promise<void>> {
  const file = openFile(folder);
  file.exec('BEGIN EXCLUSIVE');
  const client = await pool.connect();
  const stopped = [postgres.pid(), redis.pid()];
  const signalAll = (signal: NodeJS.Signals): void => {
    for (const pid of stopped) process.kill(pid, signal);
  };
  // The first process of PostgreSQL before its children, so that there will be no others.
  signalAll('SIGSTOP');
  const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
  stopped.push(...rows.map(({ pid }) => pid));
  signalAll('SIGSTOP');
  client.release();
  // Once only: their ids may be those of others later.
  const thaw = async (): Promise<void> => {
    signalAll('SIGCONT');
    stopped.length = 0;
    if (file.isOpen) file.close();
  };
  onTestFinished(thaw);
  return thaw;
}

/** Ends both, without the time to say goodbye, and starts them again. */
async function crash({ postgres, redis }: Drivers): Promise<() => Promise<void>> {
  await Promise.all([postgres.kill(), redis.kill()]);
  return async () => void (await Promise.all([postgres.start(), redis.start()]));
}

/** Sends new orders, one after the other, until it is over. */
async function keepBuying(fleet: Fleet, buyer: string, isOver: () => boolean) {
  const answers = new Map<string, Set<string>>();
  for (let order = 0; !isOver(); order++) {
    const key = `${buyer}-${order}`;
    const given = new Set<string>();
    answers.set(key, given);
    given.add(await fleet.order(key, { first: order, workMs: 20 }));
    given.add(await fleet.order(key, { first: order + 1 }));
  }
  return answers;
}

/** SQLite has no server that may be down. */
const serverNames = driverNames.filter((name) => name !== 'node:sqlite');

test.each([
  ['does not answer', driverNames, freeze],
  ['is down', serverNames, crash],
] as const)(
  'a store that %s for 10 seconds is a 503 with Retry-After, and every order is still taken once',
  async (_how, names, begin) => {
    const fleets = await Promise.all(
      names.map(async (driver) => {
        const limits = { leaseMs: 2000, storeTimeoutMs: 1000 };
        return [driver, await startFleet(drivers(), driver, { size: 2, ...limits })] as const;
      }),
    );
    let isOver = false;
    const all = fleets.map(async ([driver, fleet]) => {
      const buyers = [0, 1, 2].map((buyer) => keepBuying(fleet, `${buyer}`, () => isOver));
      return [driver, fleet, await Promise.all(buyers)] as const;
    });
    await sleep(1000);

    const folder = fleets.at(-1)?.[1].folder ?? '';
    const end = await begin(drivers(), folder);
    const endsAt = Date.now() + outageMs;
    // Each process, whatever it had under way, and its handlers which wait for their store.
    const seen = fleets.map(async ([driver, fleet]) => {
      const replies: Reply[] = [];
      for (let order = 0; Date.now() < endsAt - 2000; order++)
        replies.push(await fleet.send(order % 2, `asked-${order}`));
      const told = replies.map(({ status, retryAfter }) => `${status}, after ${retryAfter} s`);
      return [driver, [...new Set(told)]] as const;
    });
    expect(Object.fromEntries(await Promise.all(seen))).toEqual(
      Object.fromEntries(names.map((driver) => [driver, ['503, after 1 s']])),
    );
    await sleep(endsAt - Date.now());
    await end();
    await sleep(1000);
    isOver = true;

    for (const [driver, fleet, bought] of await Promise.all(all)) {
      const answers = bought.flatMap((one) => [...one]);
      // What was refused meanwhile runs now, once.
      for (const order of [0, 1]) {
        const key = `asked-${order}`;
        answers.push([
          key,
          new Set([await fleet.order(key), await fleet.order(key, { first: 1 })]),
        ]);
      }
      const faults = await fleet.faultsIn(answers);
      expect([driver, faults]).toEqual([driver, []]);
      expect((await fleet.ledger()).orders.size).toBe(answers.length);
    }
  },
);
