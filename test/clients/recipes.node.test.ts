import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeClients } from './contract.ts';
import { type Shop, startShop } from './shop-server.ts';

const page = ['recipes', 'graphql']
  .map((name) =>
    readFileSync(resolve(import.meta.dirname, `../../docs/clients/${name}.md`), 'utf8'),
  )
  .join('');
const folder = resolve(import.meta.dirname, 'recipes');

test.each(
  readdirSync(folder).filter((file) => !/steady|openapi.ts|router|documents|_pb/.test(file)),
)('docs/clients has the recipe %s as it is run here, in at most fifteen lines', (file) => {
  const code = readFileSync(resolve(folder, file), 'utf8');
  expect(page).toContain(`\`\`\`ts\n${code}\`\`\``);
  const own = code.split('\n').filter((line) => line);
  expect(own.length).toBeLessThanOrEqual(15);
});

let shop: Shop;
beforeAll(async () => void (shop = await startShop()));
afterAll(() => shop.close());

describeClients(() => shop.origin);
