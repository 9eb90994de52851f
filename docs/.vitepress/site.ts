import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The repository. */
export const root = resolve(import.meta.dirname, '../..');
export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The pages of the site, by their files in the repository. */
export const pages: readonly string[] = [
  'README.md',
  'sim/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file.replaceAll('\\', '/')}`)
    .toSorted(),
];

/** Where the file of a page is on the site: a README is the index of its folder. */
export function sitePathOf(path: string): string {
  if (path === 'README.md') return 'readme.md';
  if (path === 'sim/README.md') return 'simulation.md';
  if (path === 'docs/ja.md') return 'ja/index.md';
  return path.replace('docs/', '').replace(/(?<=^|\/)README\.md$/, 'index.md');
}

/** The anchor of a heading, by the rules of GitHub: links work there and in an editor, too. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\s-]/gu, '')
    .replaceAll(' ', '-');

/** A link of a page, as it is on the site; undefined: it leads to a file that is not there. */
export function toSite(href: string, page: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const target = join(dirname(page), path).replaceAll('\\', '/');
  if (!pages.includes(target)) return undefined;
  const to = relative(dirname(sitePathOf(page)), sitePathOf(target)).replaceAll('\\', '/');
  return anchor === undefined ? to : `${to}#${anchor}`;
}
