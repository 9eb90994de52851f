import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importsOf, violations } from './import-rules.ts';

const root = resolve(import.meta.dirname, '../..');

function sourcesIn(folder: string): [path: string, code: string][] {
  return readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => /\.tsx?$/.test(path) && !/\.d\.ts$|\/(dist|node_modules)\//.test(path))
    .map((path) => [path, readFileSync(resolve(root, path), 'utf8')]);
}

test('in src and demo, imports point down, without cycles', () => {
  const files = new Map([...sourcesIn('src'), ...sourcesIn('demo')]);
  expect(files.has('src/index.ts')).toBe(true);
  expect(violations(files)).toEqual([]);
});

test('a folder of src has at most 12 files of its own', () => {
  const counts = new Map<string, number>();
  for (const [path] of sourcesIn('src')) {
    const folder = dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  // The entries are beside each other.
  counts.delete('src');
  expect([...counts].filter(([, count]) => count > 12)).toEqual([]);
});

describe('the rules see', () => {
  const house = (files: Record<string, string>) => violations(new Map(Object.entries(files)));

  test('every form of import, types included', () => {
    const code = `
      import a from './a.ts';
      import type { B } from './b.ts';
      import './c.ts';
      export { d } from './d.ts';
      export type * from './e.ts';
      const f = import('./f.ts');
      type G = import('./g.ts').G;
      type H = typeof import('./h.ts');
      const i = import(f + '.ts');
    `;
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `./${name}.ts`);
    expect(importsOf('src/core/policy/x.ts', code)).toEqual([...names, undefined]);
  });

  test('an import that points up', () => {
    expect(
      house({
        'src/core/policy/a.ts': `import type { B } from '../fetch/b.ts';`,
        'src/core/fetch/b.ts': '',
      }),
    ).toEqual(['src/core/policy/a.ts imports ../fetch/b.ts: imports point down']);
  });

  test('the testing kit importing more than the library', () => {
    expect(
      house({
        'src/testing/a.ts': `import { b } from '../core/lib/b.ts'; import { c } from '../core/fetch/c.ts';`,
        'src/core/lib/b.ts': '',
        'src/core/fetch/c.ts': '',
      }),
    ).toEqual(['src/testing/a.ts imports ../core/fetch/c.ts: imports point down']);
  });

  test('an import of an entry file from inside, or from another entry', () => {
    expect(
      house({
        'src/core/react/a.ts': `import { b } from '../../index.ts';`,
        'src/react.ts': `export { b } from './index.ts';`,
        'src/index.ts': '',
      }),
    ).toEqual([
      'src/core/react/a.ts imports ../../index.ts: nothing inside imports an entry file',
      'src/react.ts imports ./index.ts: nothing inside imports an entry file',
    ]);
  });

  test('the main entry reaching for the hooks or the testing kit', () => {
    expect(
      house({
        'src/index.ts': `export { a } from './core/react/a.ts'; export { b } from './testing/b.ts';`,
        'src/core/react/a.ts': '',
        'src/testing/b.ts': '',
      }),
    ).toEqual([
      'src/index.ts imports ./core/react/a.ts: imports point down',
      'src/index.ts imports ./testing/b.ts: imports point down',
    ]);
  });

  test('an entry file that does more than re-export', () => {
    const fault = ['src/react.ts does more than re-export'];
    expect(house({ 'src/react.ts': 'export const a = 1;' })).toEqual(fault);
    expect(house({ 'src/react.ts': 'export {};' })).toEqual(fault);
    const directive = `'use client'; export * from './core/react/a.ts';`;
    expect(house({ 'src/react.ts': directive, 'src/core/react/a.ts': '' })).toEqual([]);
  });

  test('a cycle, also one of types only', () => {
    expect(
      house({
        'src/core/policy/a.ts': `import { b } from './b.ts';`,
        'src/core/policy/b.ts': `export type C = import('./c.ts').C;`,
        'src/core/policy/c.ts': `import type { A } from './a.ts';`,
      }),
    ).toEqual([
      'src/core/policy/a.ts → src/core/policy/b.ts → src/core/policy/c.ts → src/core/policy/a.ts: a cycle',
    ]);
  });

  test('a package that the place has no business with', () => {
    expect(
      house({
        'src/core/form/a.ts': `import { QueryClient } from '@tanstack/react-query'; import 'react';`,
        'src/core/react/b.ts': `import 'react/jsx-runtime'; import 'node:fs';`,
        'src/testing/c.ts': `import 'msw/browser'; import 'vitest';`,
      }),
    ).toEqual([
      'src/core/form/a.ts imports react: not a package for this place',
      'src/core/react/b.ts imports node:fs: not a package for this place',
      'src/testing/c.ts imports vitest: not a package for this place',
    ]);
  });

  test('a missing file or extension, and a computed import', () => {
    expect(
      house({
        'src/core/policy/a.ts': `import './b'; import(name);`,
        'src/core/policy/b.ts': '',
      }),
    ).toEqual([
      'src/core/policy/a.ts imports ./b, which is no file of src',
      'src/core/policy/a.ts computes what it imports',
    ]);
  });

  test('a folder that the order does not know', () => {
    expect(
      house({ 'src/new/a.ts': `import '../policy/b.ts';`, 'src/core/policy/b.ts': '' }),
    ).toEqual(['src/new/a.ts has no place in the order of the house']);
  });

  test('a demo that imports the source instead of the package', () => {
    expect(
      house({
        'demo/src/main.tsx': `import 'steadfetch'; import './shop.tsx'; import '../../src/index.ts';`,
        'demo/src/shop.tsx': '',
        'demo/src/storm/storm.ts': `import '../../../sim/a.ts'; import '../../../src/index.ts';`,
        'demo/src/shop/shop.ts': `import '../../../sim/a.ts';`,
      }),
    ).toEqual([
      'demo/src/main.tsx imports ../../src/index.ts: a demo imports packages by name',
      'demo/src/storm/storm.ts imports ../../../src/index.ts: a demo imports packages by name',
      'demo/src/shop/shop.ts imports ../../../sim/a.ts: a demo imports packages by name',
    ]);
  });
});
