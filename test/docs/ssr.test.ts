import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string): string =>
  readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
const page = read('docs/ssr.md');

test.each([
  'shop/clients.ts',
  'shop/shop.ts',
  'shop/shop-page.tsx',
  'shop/providers.tsx',
  'next/app/page.tsx',
  'next/app/stream-page.tsx',
  'next/app/stream-products.tsx',
  'react-router/app/home.tsx',
])('docs/ssr.md has %s as npm run ssr builds it', (file) => {
  expect(page).toContain(`\`\`\`${file.split('.')[1]}\n${read(`test/ssr/${file}`)}\`\`\``);
});
