import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const examples = resolve(import.meta.dirname, '../../examples');
const names = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const read = (...path: string[]): string => readFileSync(join(examples, ...path), 'utf8');

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

test('examples/README.md has each example', () => {
  const links = [...read('README.md').matchAll(/^\| \[([\w-]+)\]\(\1\) \|/gm)];
  expect(links.map(([, name]) => name).toSorted()).toEqual(names.toSorted());
});

describe.each(names)('examples/%s', (name) => {
  const { scripts, dependencies, devDependencies } = JSON.parse(
    read(name, 'package.json'),
  ) as Manifest;
  const versions = Object.entries({ ...dependencies, ...devDependencies });

  test('is built and started as its README says', () => {
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['dev', 'build', 'start']));
    expect(read(name, 'README.md')).toMatch(
      /```sh\nnpm install\nnpm run build && npm start .*npm run dev/s,
    );
  });

  test('has exact versions, which are those that the package is tested with', () => {
    const ours: Readonly<Record<string, string>> = {
      ...manifest.devDependencies,
      steadfetch: manifest.version,
      // That of its framework mode, and of the compiler that Next.js can run.
      ...(name === 'react-router' && { 'react-router': dependencies['@react-router/serve'] ?? '' }),
      ...(name === 'next' && { typescript: '5.9.3' }),
    };
    for (const [dependency, version] of versions) {
      expect([dependency, version]).toEqual([dependency, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
      expect([dependency, version]).toEqual([dependency, ours[dependency] ?? version]);
    }
  });

  test('imports what its package.json names, and nothing of this repository', () => {
    const files = readdirSync(join(examples, name), { recursive: true, encoding: 'utf8' }).filter(
      (path) => /\.[jt]sx?$/.test(path) && !/node_modules|^(?:build|dist|\.)/.test(path),
    );
    const imported = files.flatMap((path) =>
      [...read(name, path).matchAll(/(?:from|import) '((?:@[\w-]+\/)?[\w-]+)[^']*'/g)].map(
        ([, dependency = '']) => dependency,
      ),
    );
    const known = [...versions.map(([dependency]) => dependency), 'node'];
    expect(imported.length).toBeGreaterThan(10);
    expect(imported.filter((dependency) => !known.includes(dependency))).toEqual([]);
  });
});
