import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import { driverNames, startFleet } from './fleet.ts';
import { startDrivers } from './shared-stores.ts';

const drivers = startDrivers();

/** How many of five handlers run in a process that has three connections. SQLite has one transaction. */
const runningOfFive = { pg: 3, 'postgres.js': 3, ioredis: 5, redis: 5, 'node:sqlite': 1 };

describe.each(driverNames)('with %s, three processes', (driver) => {
  test('run the handler once for 1,000 parallel requests with one key, which all get one answer', async () => {
    const fleet = await startFleet(drivers(), driver);
    const texts = await Promise.all(
      Array.from({ length: 1000 }, (_, first) => fleet.order('a', { first, workMs: 50 })),
    );
    const { orders, begun } = await fleet.ledger();
    expect(begun.get('a')).toBe(1);
    expect([...new Set(texts)]).toEqual(orders.get('a'));
    expect(orders.size).toBe(1);
  });

  test('that are killed 50 times, or outsleep their leases, write no order twice, and answer none in two ways', async () => {
    const fleet = await startFleet(drivers(), driver, { leaseMs: 1000, retryAfterSeconds: 0 });
    const random = seededRandom(50);
    const answers = new Map<string, Set<string>>();
    let isOver = false;
    let keys = 0;
    /** Two who send the same order, and one of them sends it again later. */
    const buy = async (): Promise<void> => {
      while (!isOver) {
        const key = `${driver}-${(keys += 1)}`;
        const given = new Set<string>();
        answers.set(key, given);
        const [first, workMs] = [Math.floor(random() * 3), Math.floor(random() * 60)];
        const both = [first, first + 1].map((at) => fleet.order(key, { first: at, workMs }));
        for (const text of await Promise.all(both)) given.add(text);
        given.add(await fleet.order(key, { first: first + 2 }));
      }
    };
    const buyers = Array.from({ length: 12 }, buy);
    const asleep: Promise<void>[] = [];
    for (let kills = 0; kills < 50; kills++) {
      const victim = Math.floor(random() * 3);
      await fleet.isUp(victim);
      await sleep(random() * 150);
      fleet.kill(victim);
      if (kills % 10 === 5) asleep.push(fleet.suspend((victim + 1) % 3, 1500));
    }
    await Promise.all(asleep);
    isOver = true;
    await Promise.all(buyers);
    // Whoever asks again when all is calm gets the same.
    for (const [key, given] of answers) given.add(await fleet.order(key));
    expect(await fleet.faultsIn(answers)).toEqual([]);
    // What a handler writes elsewhere is written at least once, and twice where its process was killed.
    const { begun, orders } = await fleet.ledger();
    expect(orders.size).toBe(keys);
    expect([...begun.keys()].toSorted()).toEqual([...answers.keys()].toSorted());
    // How many that are depends on how busy the machine is.
    expect(Math.max(...begun.values())).toBeGreaterThan(1);
  });

  test('of which one has more handlers that never end than connections keep the key of nobody else', async () => {
    const limits = { connections: 3, leaseMs: 4000, storeTimeoutMs: 500 };
    const fleet = await startFleet(drivers(), driver, limits);
    const hung = Array.from({ length: 5 }, (_, index) => fleet.send(0, `hung-${index}`, null));
    const hasBegun = async () => (await fleet.ledger()).begun.size;
    const running = runningOfFive[driver];
    await expect.poll(hasBegun).toBe(running);

    // Its own process has no connection left: it says so, and when to ask again.
    const refused = await fleet.send(0, 'a');
    expect([refused.status, refused.retryAfter]).toEqual(running < 5 ? [503, '1'] : [201, null]);
    // The others take the same order, at once. In SQLite it has the file, and they say so, too.
    const others = [await fleet.send(1, 'a'), await fleet.send(2, 'a')];
    const told = driver === 'node:sqlite' ? '503, after 1 s' : '201, after null s';
    expect(others.map((one) => `${one.status}, after ${one.retryAfter} s`)).toEqual([told, told]);
    expect(new Set(others.map(({ text }) => text)).size).toBe(1);

    // When their leases are over, all is as it was.
    const ended = (await Promise.all(hung)).map((reply) => `${reply.status}`).toSorted();
    expect(ended).toEqual([...Array(running).fill('500'), ...Array(5 - running).fill('503')]);
    expect(await fleet.order('a')).toContain('"a"');
    expect(await fleet.order('b')).toContain('"b"');
    for (const index of [0, 1, 2, 3, 4]) await fleet.order(`hung-${index}`);
    const { orders } = await fleet.ledger();
    expect([...orders.values()].map((written) => written.length)).toEqual(Array(7).fill(1));
  });
});
