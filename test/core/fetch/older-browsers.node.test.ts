import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = `${import.meta.dirname}/older-browsers.ts`;

test('queries and mutations are retried where React Query runs, without what newer browsers have', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(JSON.parse(stdout)).toEqual(['/read', '/plain', '/keyed']);
});
