import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../src/testing/seeded-random.ts';
import {
  type Account,
  type CartOrder,
  type DeadOrder,
  settleAccount,
  type Told,
} from '../proof/account.ts';
import { forkLossyServer } from '../proof/fork-lossy-server.ts';
import { refusedArticle } from '../proof/lossy-server.ts';
import { startOutboxServer } from './outbox-server.ts';

/** The page of outbox-page, the lossy server that it orders from, and what was told and done. */
export interface OutboxShop {
  /** Of the page. */
  readonly url: string;
  /** What the pages have told, in the order in which it was heard. */
  readonly told: Told[];
  /** So many new orders: some of a cart, some of none, a few to be refused. */
  readonly draw: (count: number) => readonly CartOrder[];
  /** How many orders are known to be kept. */
  readonly countSaved: () => number;
  /** Kills the server of the orders, and starts it again with the same ledger. */
  readonly restart: () => Promise<void>;
  readonly settle: (dead: readonly DeadOrder[], left: readonly number[]) => Promise<Account>;
  readonly close: () => Promise<void>;
}

/** Half of the orders are of one of these carts. */
const carts = Array.from({ length: 12 }, (_, index) => `cart ${index}`);

export async function openShop({
  seed,
  speed,
}: {
  readonly seed: number;
  readonly speed: number;
}): Promise<OutboxShop> {
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), 'steadfetch-shop-'));
  const page = await startOutboxServer();
  const { told } = page;
  const orders: CartOrder[] = [];
  let lossy = await forkLossyServer({ seed, speed, folder });
  const { port: lossyPort } = new URL(lossy.url);
  const asked = new URLSearchParams({ orders: lossy.url, speed: `${speed}` });
  return {
    url: `${page.url}?${asked}`,
    told,
    draw: (count) =>
      Array.from({ length: count }, () => {
        const cart = carts[Math.floor(random() * 2 * carts.length)];
        const article = random() < 0.02 ? refusedArticle : 'a lamp';
        const order = { no: orders.length + 1, article, ...(cart !== undefined && { cart }) };
        orders.push(order);
        return order;
      }),
    countSaved: () =>
      new Set(told.flatMap((one) => (one.kind === 'saved' && one.isDurable ? one.nos : []))).size,
    async restart() {
      await lossy.kill();
      lossy = await forkLossyServer({ seed, speed, folder, port: Number(lossyPort) });
    },
    async settle(dead, left) {
      const isRefused = ({ article }: CartOrder): boolean => article === refusedArticle;
      return settleAccount(orders, told, await lossy.report(), { dead, left }, isRefused);
    },
    async close() {
      await lossy.close();
      page.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
