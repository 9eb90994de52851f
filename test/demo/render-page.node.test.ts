import { expect, test } from 'vitest';
import { anchorOf, renderPage, sitePathOf } from '../../demo/site/render-page.ts';

const bodyOf = (path: string, markdown: string): string =>
  /<main>\n(.*)<\/main>/s.exec(renderPage(path, markdown))?.[1] ?? '';

test('a page is where its file is, and a README the index of its folder', () => {
  const files = ['docs/README.md', 'docs/storms/README.md', 'docs/retry.md', 'README.md'];
  expect(files.map(sitePathOf)).toEqual([
    'docs/index.html',
    'docs/storms/index.html',
    'docs/retry.html',
    'docs/readme.html',
  ]);
  expect(sitePathOf('demo/public/storm.jpg')).toBe('storm.jpg');
  expect(sitePathOf('src/index.ts')).toBe(undefined);
});

test('a link leads from one page to another, with its anchor, also up and down', () => {
  expect(bodyOf('docs/storms/README.md', '[a](../retry.md#where) [b](one-user.md) [c](#d)')).toBe(
    '<p><a href="../retry.html#where">a</a> <a href="one-user.html">b</a> <a href="#d">c</a></p>\n',
  );
  expect(bodyOf('README.md', '[a](docs/README.md) ![p](demo/public/storm.jpg)')).toBe(
    '<p><a href="index.html">a</a> <img src="../storm.jpg" alt="p" loading="lazy"></p>\n',
  );
});

test('what the site does not have is named, without a link', () => {
  expect(bodyOf('README.md', 'These [apps](test/size).')).toBe('<p>These apps.</p>\n');
});

test('headings have the anchors of GitHub, the second of a name its number', () => {
  expect(anchorOf('What `Retry-After` is (and why)')).toBe('what-retry-after-is-and-why');
  expect(anchorOf('導入')).toBe('導入');
  expect(bodyOf('docs/a.md', '## A & B\n## A & B\n')).toBe(
    '<h2 id="a--b">A &amp; B</h2>\n<h2 id="a--b-1">A &amp; B</h2>\n',
  );
});

test('a page has its heading as its title, and its first paragraph as its description', () => {
  const page = renderPage('docs/a.md', '# Retry\n\nA "failed" request.\n\nMore.');
  expect(page).toContain('<title>Retry · Steadfetch</title>');
  expect(page).toContain('<meta name="description" content="A &quot;failed&quot; request.">');
  expect(page).toContain('<html lang="en">');
  expect(renderPage('docs/ja.md', '# Steadfetch')).toContain('<html lang="ja">');
});
