import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { install, installNode, unpack } from './app.ts';
import { pagePackages } from './bundlers.ts';
import { nodes } from './runners.ts';

const packages = { ...pagePackages, bun: '1.4.5', deno: '2.9.6' };
const expected = JSON.stringify({
  empty: [],
  names: ['Lamp', 'Lamp', 'Lamp', 'Lamp'],
  isReason: true,
  timedOut: 'TimeoutError',
  orders: ['lamp 1'],
});

/** A program with every entry, through failures of a server of its own, and a server that does once what has one key. */
export function runRuntimes(tarball: string): string[][] {
  const folder = install('runtimes', packages);
  unpack(tarball, folder);
  copyFileSync(join(import.meta.dirname, 'page/runtime.mjs'), join(folder, 'runtime.mjs'));
  const below = (path: string): string => join(folder, 'node_modules', path);
  const runtimes: readonly (readonly [name: string, program: string, ...args: string[]])[] = [
    ...nodes.map((version) => [`Node ${version}`, installNode(version)] as const),
    [`Bun ${packages.bun}`, below('.bin/bun'), 'run'],
    [`Deno ${packages.deno}`, below('.bin/deno'), 'run', '--allow-all'],
  ];
  const entries = Object.keys(manifest.exports)
    .filter((path) => !/\.(?:json|css)$/.test(path))
    .map((path) => `steadfetch${path.slice(1)}`);
  const table = [['', 'a program with every entry']];
  for (const [name, program, ...args] of runtimes) {
    const { stdout, stderr } = spawnSync(program, [...args, 'runtime.mjs', ...entries], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1' },
    });
    const runs = stdout.trim() === expected;
    if (!runs) console.log(`${name}:\n${stdout}${stderr}`);
    table.push([name, runs ? 'runs' : 'FAILS']);
    console.log(table.at(-1)?.join(' | '));
  }
  return table;
}
