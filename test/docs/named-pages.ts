import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rules } from '../../src/doctor/rules/all.ts';

const src = resolve(import.meta.dirname, '../../src');

/** The pages of docs that the messages of the package name, each with its anchor. */
export function namedPages(): readonly string[] {
  const source = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(join(src, file), 'utf8'))
    .join('\n');
  const links = [...source.matchAll(/'([\w/-]+\.md(?:#[\w-]+)?)'/g)].map(([, link = '']) => link);
  // The doctor alone makes a link: each of its findings names the heading of its rule.
  const made = source.match(/`[\w/-]+\.md[^`]*`/g);
  if (made?.join() !== '`doctor.md#${name}`') throw new Error(`Which are these? ${made?.join()}`);
  return [...new Set([...links, ...rules.map(({ name }) => `doctor.md#${name}`)])];
}
