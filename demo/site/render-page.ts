import { dirname, join, relative } from 'node:path/posix';
import { Marked } from 'marked';

/** Where a file of the repository is on the site; undefined: it is not there. */
export function sitePathOf(path: string): string | undefined {
  if (path === 'README.md') return 'docs/readme.html';
  if (path === 'sim/README.md') return 'docs/simulation.html';
  if (path.startsWith('demo/public/')) return path.slice('demo/public/'.length);
  if (!path.startsWith('docs/')) return undefined;
  return path.replace(/(?<=^|\/)README\.md$/, 'index.html').replace(/\.md$/, '.html');
}

/** The anchor of a heading, by the rules of GitHub. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\s-]/gu, '')
    .replaceAll(' ', '-');

const escape = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

const npm = 'https://www.npmjs.com/package/steadfetch';

/** So much of a page's first paragraph is its description. */
const descriptionLength = 160;

/** A page of the docs, from its Markdown: its links lead to the pages of the site. */
export function renderPage(path: string, markdown: string): string {
  const sitePath = sitePathOf(path);
  if (sitePath === undefined) throw new Error(`${path} is not on the site.`);
  const toSite = (target: string): string => relative(dirname(sitePath), target);
  const toHref = (href: string): string | undefined => {
    if (/^(https?:|#)/.test(href)) return href;
    const [file = '', anchor] = href.split('#');
    const target = sitePathOf(join(dirname(path), file));
    if (target === undefined) return undefined;
    return `${toSite(target)}${anchor === undefined ? '' : `#${anchor}`}`;
  };

  let title = '';
  let description = '';
  const anchors = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens, this.parser.textRenderer);
        title ||= text;
        const anchor = anchorOf(text);
        const times = anchors.get(anchor) ?? 0;
        anchors.set(anchor, times + 1);
        const id = times === 0 ? anchor : `${anchor}-${times}`;
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      paragraph({ tokens }) {
        const text = this.parser.parseInline(tokens, this.parser.textRenderer);
        description ||= text.slice(0, descriptionLength);
        return `<p>${this.parser.parseInline(tokens)}</p>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const to = toHref(href);
        // The site has no source files: what leads to one is only named.
        return to === undefined ? text : `<a href="${escape(to)}">${text}</a>`;
      },
      image({ href, text }) {
        return `<img src="${escape(toHref(href) ?? href)}" alt="${escape(text)}" loading="lazy">`;
      },
      code({ text, lang = '' }) {
        // With the keyboard, too, it can be scrolled.
        return `<pre tabindex="0" role="group" aria-label="${lang || 'Text'}"><code>${escape(text)}</code></pre>\n`;
      },
    },
    hooks: {
      postprocess: (html) =>
        html
          .replaceAll(
            '<table>',
            '<div class="table" tabindex="0" role="group" aria-label="Table"><table>',
          )
          .replaceAll('</table>', '</table></div>'),
    },
  });
  const body = marked.parse(markdown, { async: false });
  return `<!doctype html>
<html lang="${path === 'docs/ja.md' ? 'ja' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} · Steadfetch</title>
<meta name="description" content="${escape(description)}">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${toSite('docs/docs.css')}">
</head>
<body>
<header>
<a href="${toSite('docs/index.html')}"><b>Steadfetch</b></a>
<nav aria-label="Site">
<a href="${toSite('index.html')}">Demo</a>
<a href="${toSite('docs/index.html')}">All pages</a>
<a href="${npm}">npm</a>
<a href="${toSite('docs/ja.html')}" lang="ja" hreflang="ja">日本語</a>
</nav>
</header>
<main>
${body}</main>
</body>
</html>
`;
}
