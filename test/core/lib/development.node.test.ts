import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type Rolldown } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import webpack from 'webpack';
import buildIfStale from '../../setup/dist.ts';

const dist = resolve(import.meta.dirname, '../../../dist');
let folder: string;
beforeAll(() => {
  buildIfStale();
  folder = mkdtempSync(join(tmpdir(), 'steadfetch-development-'));
  writeFileSync(
    join(folder, 'app.mjs'),
    `import { grpcOutcomes } from '${join(dist, 'grpc.js')}';\nglobalThis.outcomes = grpcOutcomes({});\n`,
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Mode = 'production' | 'development';

async function withVite(mode: Mode): Promise<string> {
  const [result] = (await build({
    root: folder,
    configFile: false,
    logLevel: 'silent',
    mode,
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
    build: {
      write: false,
      lib: { entry: join(folder, 'app.mjs'), formats: ['es'] },
      rolldownOptions: { external: [/^react/, /^@tanstack/] },
    },
  })) as Rolldown.RolldownOutput[];
  return result?.output.map((one) => ('code' in one ? one.code : '')).join('\n') ?? '';
}

async function withWebpack(mode: Mode): Promise<string> {
  const externals = { react: 'react', '@tanstack/react-query': 'query' };
  await new Promise<void>((done, fail) => {
    webpack(
      {
        mode,
        entry: join(folder, 'app.mjs'),
        context: folder,
        output: { path: folder },
        externals,
      },
      (error, stats) =>
        stats && !stats.hasErrors() ? done() : fail(error ?? new Error(stats?.toString())),
    );
  });
  return readFileSync(join(folder, 'main.js'), 'utf8');
}

/** A text of the check that `grpcOutcomes` makes of its options. */
const text = 'retryThrottling.maxTokens';

test.each([
  ['Vite', withVite],
  ['webpack', withWebpack],
] as const)(
  '%s drops a check for development from production, and keeps it before',
  async (_, make) => {
    expect(await make('development')).toContain(text);
    const code = await make('production');
    expect(code).toContain('grpc-status');
    expect(code).not.toContain(text);
  },
);
