import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { patienceMs, testTimeoutMs } from '../setup/patience.ts';

const root = resolve(import.meta.dirname, '../..');

// npm run stores: what needs a real PostgreSQL and a real Redis, and is not in npm test.
export default defineConfig({
  root,
  resolve: {
    alias: [
      { find: /^steadfetch\/(server(?:\/(?:postgres|redis))?)$/, replacement: `${root}/src/$1.ts` },
    ],
  },
  test: {
    include: ['test/stores/**/*.test.ts'],
    environment: 'node',
    testTimeout: testTimeoutMs,
    hookTimeout: testTimeoutMs,
    expect: { poll: { timeout: patienceMs } },
  },
});
