import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildPage } from '../e2e/build-page.ts';
import { launchBrowser, launchFirefox } from '../e2e/launch.ts';
import { startWebKit } from '../e2e/webkit-driver.ts';
import { compare, type Figures } from '../proof/compare.ts';
import type { Told } from '../proof/contender.ts';
import { forkLossyServer } from '../proof/fork-lossy-server.ts';
import type { EngineName } from './engines.ts';

export interface Proof {
  readonly figures: Figures;
  /** The kind of outcome that a request has which the policy of the page, in a header, forbids. */
  readonly blocked: string;
}

/** A page of any engine. */
interface AnyPage {
  readonly goto: (url: string) => Promise<unknown>;
  readonly evaluate: <Given, Answer>(
    act: (given: Given) => Answer,
    given: Given,
  ) => Promise<Awaited<Answer>>;
}

/** What the page of the proof has. */
interface ProofWindow {
  readonly submitAll: (...all: unknown[]) => Promise<[number, Told][]>;
  readonly outcomeKindOf: (url: string) => Promise<string>;
  told?: [number, Told][];
}

async function openPage(engine: EngineName): Promise<readonly [AnyPage, () => Promise<void>]> {
  if (engine !== 'webkit') {
    const browser = await (engine === 'firefox' ? launchFirefox() : launchBrowser());
    return [await browser.newPage(), () => browser.close()];
  }
  const browser = await startWebKit();
  const page = await browser.open();
  return [
    page,
    async () => {
      await page.close();
      browser.close();
    },
  ];
}

const pause = (ms: number): Promise<void> => new Promise((over) => void setTimeout(over, ms));

/** Orders from a page of this engine to a server that loses answers. */
export async function prove(engine: EngineName, orders: number): Promise<Proof> {
  const page = buildPage('proof-page');
  const speed = 40;
  const lossy = await forkLossyServer({ seed: 1, speed });
  const policy = `connect-src 'self' ${new URL(lossy.url).origin}`;
  const server = createServer(({ url = '/' }, response) => {
    response.setHeader('content-security-policy', policy);
    page.serve(url, response);
  });
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const [tab, close] = await openPage(engine);
  try {
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const given = ['Steadfetch', { url: lossy.url, speed }, { orders, tabs: 5 }];
    await tab.evaluate((all) => {
      const here = window as unknown as ProofWindow;
      void here.submitAll(...all).then((told) => (here.told = told));
    }, given);
    let told: [number, Told][] | null | undefined;
    // A driver gives up a script that takes long.
    while (!(told = await tab.evaluate(() => (window as unknown as ProofWindow).told ?? null, 0)))
      await pause(200);
    const figures = compare(new Map(told), await lossy.report());
    const forbidden = 'https://forbidden.example/';
    const blocked = await tab.evaluate(
      (url) => (window as unknown as ProofWindow).outcomeKindOf(url),
      forbidden,
    );
    return { figures, blocked };
  } finally {
    await close();
    await lossy.close();
    server.closeAllConnections();
    server.close();
    page.remove();
  }
}
