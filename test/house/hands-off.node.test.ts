import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const src = resolve(import.meta.dirname, '../../src');

const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path): [string, string] => [path, readFileSync(join(src, path), 'utf8')]);

/** What code calls an object of React Query's. */
const theirs =
  '(?:\\w*[qQ]uery|\\w*[mM]utation|\\w*[oO]bserver|(?:query)?[cC]lient|\\w*[cC]ache|queries|mutations|\\w+Manager)';

const forbidden: [string, RegExp][] = [
  ['assigns a member', new RegExp(`\\b${theirs}(?:\\.\\w+|\\[\\w+\\])\\s*=(?![=>])`)],
  ['defines a member', new RegExp(`define(?:Property|Properties)\\(\\s*${theirs}\\b`)],
  ['copies onto it', new RegExp(`Object\\.assign\\(\\s*${theirs}\\b`)],
  ['puts a stand-in before it', new RegExp(`Object\\.create\\(\\s*${theirs}\\b`)],
  ['wraps it', new RegExp(`new Proxy\\(\\s*${theirs}\\b`)],
  ['takes its timers', /\btimeoutManager\b/],
  ['changes who observes', /\bobservers\s*\.(?:push|splice|pop|shift|unshift)\b/],
];

test.each(forbidden)('nothing in src %s of an object of React Query', (_name, pattern) => {
  const found = sources.flatMap(([path, text]) =>
    text
      .split('\n')
      .filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line) && pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
