import { afterAll, beforeAll } from 'vitest';
import { describeLinks } from './links.ts';
import { type Shop, startShop } from './shop-server.ts';

let shop: Shop;
beforeAll(async () => void (shop = await startShop()));
afterAll(() => shop.close());

describeLinks(() => shop.origin);
