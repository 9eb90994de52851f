import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { compare, type Figures } from '../proof/compare.ts';
import type { Told } from '../proof/contender.ts';
import { steadfetch } from '../proof/contenders/steadfetch.ts';
import { forkLossyServer } from '../proof/fork-lossy-server.ts';
import { runProof } from '../proof/run-proof.ts';
import { buildPage } from './build-page.ts';
import { launchBrowser } from './launch.ts';

const seed = 1;

/** What no run of Steadfetch may ever show, however slow the machine. */
const never = { duplicated: 0, successNotDone: 0, failedButDone: 0 };

/** The page, at an origin of its own. */
async function servePage(): Promise<string> {
  const page = buildPage('proof-page');
  const server = createServer(({ url = '/' }, response) => page.serve(url, response));
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    page.remove();
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Orders from a page in Chromium: preflights, six connections, and resends of the browser's own. */
async function runInChromium(
  name: string,
  { orders, tabs, speed }: { orders: number; tabs: number; speed: number },
): Promise<Figures> {
  const url = await servePage();
  const server = await forkLossyServer({ seed, speed });
  onTestFinished(() => server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
  const told = await page.evaluate(
    ([contender, line, amount]) =>
      (
        window as unknown as {
          submitAll: (...all: unknown[]) => Promise<[number, Told][]>;
        }
      ).submitAll(contender, line, amount),
    [name, { url: server.url, speed }, { orders, tabs }] as const,
  );
  return compare(new Map(told), await server.report());
}

const total = (figures: Figures): number =>
  figures.toldSuccess + figures.failedNotDone + figures.unknownDone + figures.unknownNotDone;

test('of 10,000 orders from Node none is booked twice, none is told as failed that is booked, and at least 99.9 % are told success', async () => {
  const figures = await runProof(steadfetch, { orders: 10_000, tabs: 48, speed: 40, seed });
  expect(figures).toMatchObject(never);
  expect(total(figures)).toBe(10_000);
  expect(figures.toldSuccess).toBeGreaterThanOrEqual(9990);
});

test('of 500 orders from Chromium none is booked twice, none is told as failed that is booked, and at least 99 % are told success', async () => {
  const figures = await runInChromium('Steadfetch', { orders: 500, tabs: 5, speed: 40 });
  expect(figures).toMatchObject(never);
  expect(total(figures)).toBe(500);
  expect(figures.toldSuccess).toBeGreaterThanOrEqual(495);
});

test('the harness sees what it looks for: React Query alone books orders twice', async () => {
  const name = 'React Query, key in the mutationFn';
  const { duplicated, failedButDone } = await runInChromium(name, {
    orders: 100,
    tabs: 5,
    speed: 40,
  });
  expect(duplicated).toBeGreaterThan(0);
  expect(failedButDone).toBeGreaterThan(0);
});
