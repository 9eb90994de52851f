import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { compile, type Sample } from './compile.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string, end: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => end.test(file))
    .map((file) => join(folder, file));
const pages = filesIn('docs', /\.md$/);

test('every sample in docs compiles', () => {
  const samples = pages.flatMap((page): Sample[] =>
    [...read(page).matchAll(/```(?<kind>tsx?)\n(?<code>.*?)```/gs)].map(({ groups }, index) => {
      const { kind = '', code = '' } = groups ?? {};
      // One that others import says its name in its first line.
      const own = /^\/\/ (?<name>[\w-]+\.tsx?)\n/.exec(code)?.groups?.['name'];
      return { name: own ?? `${page.replaceAll('/', '-')}-${index}.${kind}`, code };
    }),
  );
  expect(samples.length).toBeGreaterThanOrEqual(8);
  // Samples import the instance of the README from beside them.
  const steady = { name: 'steady.ts', code: read('test/readme/steady.ts') };
  expect(compile([...samples, steady])).toBe('');
});

/** The default of an option, as its documentation in src tells it. */
const source = filesIn('src', /\.ts$/).map(read).join('\n');
const plain = (text: string): string => text.replaceAll(/[`'\s]/g, '');
function defaultsOf(option: string): string[] {
  const doc = new RegExp(`@default ([^@]*?)\\s*\\*/\\s*readonly ${option}\\?:`, 'g');
  return [...source.matchAll(doc)].map(([, text = '']) => plain(text));
}

describe.each(pages)('%s', (page) => {
  const text = read(page);

  const tables = [...text.matchAll(/^\| option \| default \|.*\n(?:\|.*\n)*/gm)].join('\n');
  const rows = [...tables.matchAll(/^\| `(?:\w+\.)*(\w+)` \| ([^|]*) \|/gm)];
  test('tells the defaults as they are', () => {
    for (const [, option = '', told = ''] of rows) {
      expect(defaultsOf(option), option).toContain(plain(told));
    }
  });

  test('links to what is there', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, link = '']) =>
      join(dirname(page), link),
    );
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });
});
