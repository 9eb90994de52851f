import { execFileSync, execSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as main from 'steadfetch';
import * as axios from 'steadfetch/axios';
import * as outbox from 'steadfetch/outbox';
import * as react from 'steadfetch/react';
import * as server from 'steadfetch/server';
import * as postgres from 'steadfetch/server/postgres';
import * as redis from 'steadfetch/server/redis';
import * as testing from 'steadfetch/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import buildIfStale from '../setup/dist.ts';

const root = resolve(import.meta.dirname, '../..');
const entries = {
  steadfetch: Object.keys(main).toSorted(),
  'steadfetch/axios': Object.keys(axios).toSorted(),
  'steadfetch/outbox': Object.keys(outbox).toSorted(),
  'steadfetch/react': Object.keys(react).toSorted(),
  'steadfetch/server': Object.keys(server).toSorted(),
  'steadfetch/server/postgres': Object.keys(postgres).toSorted(),
  'steadfetch/server/redis': Object.keys(redis).toSorted(),
  'steadfetch/testing': Object.keys(testing).toSorted(),
};
const names = Object.keys(entries) as (keyof typeof entries)[];

/** An app that has installed the packed package, with its peers linked from ours. */
let app: string;

function link(...peers: string[]): void {
  for (const name of peers) {
    const path = join(app, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) symlinkSync(join(root, 'node_modules', name), path, 'junction');
  }
}

const runNode = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: app, encoding: 'utf8' });

function exportedBy(entry: string): string[] {
  const code = `console.log(JSON.stringify(Object.keys(await import('${entry}')).sort()))`;
  return JSON.parse(runNode('--input-type=module', '--eval', code)) as string[];
}

beforeAll(() => {
  buildIfStale();
  app = mkdtempSync(join(tmpdir(), 'steadfetch-app-'));
  // One string and a shell, because npm is a script on Windows; so the folder goes by environment.
  const env = { ...process.env, npm_config_pack_destination: app };
  execSync('npm pack --ignore-scripts', { cwd: root, env, stdio: 'pipe' });
  const [tarball = ''] = readdirSync(app);
  const installed = join(app, 'node_modules/steadfetch');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(app, tarball), '--strip-components=1', '-C', installed]);
  writeFileSync(join(app, 'package.json'), '{ "type": "module", "private": true }');
  link('react', '@tanstack/react-query', '@types/react', 'csstype');
});

afterAll(() => rmSync(app, { recursive: true, force: true }));

describe('an app that installs the packed package', () => {
  test('imports every entry, also where no msw is installed', () => {
    for (const name of names) expect(exportedBy(name)).toEqual(entries[name]);
  });

  test('requires every entry, as CommonJS does', () => {
    for (const name of names) {
      const code = `console.log(JSON.stringify(Object.keys(require('${name}')).sort()))`;
      const found = JSON.parse(runNode('--input-type=commonjs', '--eval', code)) as string[];
      expect(found).toEqual(entries[name]);
    }
  });

  test('downloads at most 250 kB', () => {
    const [tarball = ''] = readdirSync(app).filter((name) => name.endsWith('.tgz'));
    expect(statSync(join(app, tarball)).size).toBeLessThanOrEqual(250_000);
  });

  test.each([
    ['bundler', 'esnext'],
    ['nodenext', 'nodenext'],
  ])('type checks what it imports with moduleResolution %s', (moduleResolution, module) => {
    const code = names.flatMap((name, index) => [
      `import * as entry${index} from '${name}';`,
      `export const used${index} = [${entries[name].map((key) => `entry${index}.${key}`).join(', ')}];`,
      '// @ts-expect-error An entry without types would be any, and have every name.',
      `entry${index}.notExported;`,
    ]);
    writeFileSync(join(app, 'app.ts'), code.join('\n'));
    writeFileSync(
      join(app, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: { strict: true, noEmit: true, target: 'es2023', module, moduleResolution },
        files: ['app.ts'],
      }),
    );
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    // Not execFileSync: what tsc complains about is on its stdout.
    const { stdout } = spawnSync(process.execPath, [tsc, '--project', '.'], {
      cwd: app,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });
});
