import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string): string =>
  readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
const page = ['ssr', 'ssr/next', 'ssr/react-router']
  .map((name) => read(`docs/${name}.md`))
  .join('');

const files = ['clients.ts', 'shop.ts', 'shop-page.tsx', 'providers.tsx'];

test.each([
  ...files.map((file) => `next/app/${file}`),
  ...files.map((file) => `react-router/app/${file}`),
  'next/app/page.tsx',
  'next/app/stream-page.tsx',
  'next/app/stream-products.tsx',
  'react-router/app/home.tsx',
])('docs/ssr has examples/%s', (file) => {
  expect(page).toContain(`\`\`\`${file.split('.')[1]}\n${read(`examples/${file}`)}\`\`\``);
});
