import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createSteadfetch, retry, type RetryOptions, type SteadfetchConfig } from 'steadfetch';
import { record } from 'steadfetch/devtools';
import { expect, test, vi } from 'vitest';
import { virtualTime } from 'steadfetch/testing';
import { asTest } from '../../src/devtools/recording/as-test.ts';
import { viewAt } from '../../src/devtools/view.ts';

const root = resolve(import.meta.dirname, '../..');

/** The test of an operation that has met these answers. */
async function testOf(
  answers: readonly (number | 'network' | 'ok' | 'cut')[],
  options?: RetryOptions,
  config: SteadfetchConfig = {},
): Promise<string> {
  const time = virtualTime(vi);
  const left = [...answers];
  const steady = createSteadfetch({
    random: () => 0.5,
    ...config,
    fetch: async () => {
      const next = left.shift() ?? 'ok';
      if (next === 'network') throw new TypeError('Failed to fetch');
      if (next === 'ok') return new Response('{}');
      if (next !== 'cut') return new Response('', { status: next });
      const pull = (it: ReadableStreamDefaultController): void => it.error(new TypeError('cut'));
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
    },
  });
  const recorder = record(steady);
  try {
    const load = async ({ signal }: { readonly signal: AbortSignal }): Promise<string> =>
      (await steady.fetch('http://shop.test/orders/1?token=1', { signal })).text();
    const done = retry(steady, load, options).catch(() => {});
    await time.advance(100_000);
    await done;
    const [operation] = viewAt(recorder.getState(), Infinity).operations;
    return (operation && asTest(operation)) ?? '';
  } finally {
    recorder.stop();
    steady.dispose();
    time.restore();
  }
}

/** What Vitest says of it in a folder of an app. */
async function run(code: string): Promise<{ readonly passes: boolean; readonly said: string }> {
  const folder = mkdtempSync(join(root, 'node_modules', '.as-test-'));
  try {
    writeFileSync(join(folder, 'copied.test.ts'), code);
    const alias = {
      'steadfetch/testing': join(root, 'src/testing.ts'),
      steadfetch: join(root, 'src/index.ts'),
    };
    const config = { root: folder, resolve: { alias }, test: { include: ['copied.test.ts'] } };
    writeFileSync(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)};`);
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--config', join(folder, 'vitest.config.mjs')];
    const env = { ...process.env, NO_COLOR: '1' };
    return await promisify(execFile)(process.execPath, args, { cwd: folder, env }).then(
      ({ stdout }) => ({ passes: true, said: stdout }),
      (error: unknown) => {
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
        return { passes: false, said: stdout + stderr };
      },
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('the test of an operation that has failed runs, and fails as it did', async () => {
  const code = await testOf([503, 'network', 404]);
  expect(code).toContain(
    'compose(failTimes(1, 503), networkError({ times: 1 }), failTimes(1, 404))',
  );
  expect(code).not.toContain('token');
  const { passes, said } = await run(code);
  expect(said).toContain('The server answered 404 Not Found.');
  expect(passes).toBe(false);
});

test('the test of one that has succeeded in the end passes', async () => {
  const { passes, said } = await run(await testOf([500, 'cut']));
  expect(said).toContain('1 passed');
  expect(passes).toBe(true);
});

test('options that were set are in it, and decide', async () => {
  const code = await testOf([503, 503], { maxRetries: 1 });
  expect(code).toContain('{ maxRetries: 1 }');
  expect((await run(code)).passes).toBe(false);
});

test('what has met no failure has no test', async () => {
  expect(await testOf([])).toBe('');
});
