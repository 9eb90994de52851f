import { relative } from 'node:path';
import { defineConfig, type MarkdownRenderer } from 'vitepress';
import { anyPath, serveAnywhere } from './any-path.ts';
import { japanese, japaneseSearch } from './japanese.ts';
import { sidebar } from './sidebar.ts';
import { anchorOf, pages, read, root, sitePathOf, toSite } from './site.ts';

/** A cell without a text heads nothing. */
function renderEmptyHeaders(md: MarkdownRenderer): void {
  md.core.ruler.push('empty-headers', ({ tokens }) => {
    for (const [index, token] of tokens.entries())
      if (token.tag === 'th' && tokens[index + token.nesting]?.content === '') token.tag = 'td';
  });
}

/** Links lead to the pages of the site; what leads to a file that it does not have is only named. */
function linkPages(md: MarkdownRenderer): void {
  md.core.ruler.push('site-links', ({ tokens, env }) => {
    const { realPath, path } = env as { realPath?: string; path: string };
    const page = relative(root, realPath ?? path).replaceAll('\\', '/');
    for (const { children } of tokens) {
      // Links do not nest.
      let isThere = true;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const to = toSite(token.attrGet('href') ?? '', page);
          isThere = to !== undefined;
          token.attrSet('href', to ?? '');
        }
        // Of a link without its tags the text is left.
        if (!isThere && token.type.startsWith('link_')) token.type = 'text';
      }
    }
  });
}

/** A page's first paragraph, as plain text, as far as a search engine shows it. */
const descriptionOf = (text: string): string =>
  (/^# .*\n+([^\n]*)/m.exec(text)?.[1] ?? '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)|[*`]/g, '$1')
    .slice(0, 160);

export default defineConfig({
  srcDir: root,
  srcExclude: ['!(docs|sim)/**/*', '!(README).md'],
  rewrites: Object.fromEntries(pages.map((page) => [page, sitePathOf(page)])),
  base: anyPath,
  outDir: `${root}/demo/dist/docs`,
  title: 'Steadfetch',
  titleTemplate: ':title · Steadfetch',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  transformPageData: ({ filePath }) => ({ description: descriptionOf(read(filePath)) }),
  markdown: {
    // `{"id": 1}` at the end of a cell is text.
    attrs: { disable: true },
    anchor: { slugify: anchorOf },
    image: { lazyLoading: true },
    languages: ['css', 'html', 'http', 'js', 'json', 'jsx', 'sh', 'sql', 'ts', 'tsx'],
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      // Texts such as `8)` stay as they are.
      md.core.ruler.disable('emoji');
      md.use(renderEmptyHeaders).use(linkPages);
    },
  },
  locales: {
    root: { label: 'English', lang: 'en' },
    ja: japanese,
  },
  themeConfig: {
    i18nRouting: false,
    sidebar,
    outline: [2, 3],
    nav: [
      { text: 'First step', link: '/readme.html' },
      { text: 'All pages', link: '/index.html' },
      { text: 'Reference', link: '/reference/index.html' },
      { text: 'Demo', link: '/../index.html', target: '_self' },
      { text: 'npm', link: 'https://www.npmjs.com/package/steadfetch' },
    ],
    search: {
      provider: 'local',
      options: {
        locales: { ja: japaneseSearch },
        // Colours are not searched for, and take most of the time.
        _render(text, env, md) {
          const { highlight } = md.options;
          md.options.highlight = null;
          const html = md.render(text, env);
          md.options.highlight = highlight;
          return html;
        },
        miniSearch: {
          searchOptions: {
            combineWith: 'AND',
            boostDocument: (id) =>
              /\/(?:storms|exactly-once|reference|components-in)/.test(`${id}`) ? 0.3 : 1,
          },
          options: {
            // Between Japanese words there is no space, and each browser divides them otherwise: each sign is a word.
            tokenize: (text) =>
              text.match(/[ぁ-ゟ々一-鿿]|(?:(?![ぁ-ゟ々一-鿿])[\p{L}\p{M}\p{N}])+/gu) ?? [],
          },
        },
      },
    },
  },
  vite: {
    build: { chunkSizeWarningLimit: Infinity },
    plugins: [
      {
        name: 'search',
        enforce: 'pre',
        transform(code, id) {
          // All is found from the Japanese part, too.
          if (id === '/@localSearchIndex') return code.replace(/"root": ([^,}]*)/, '$&, "ja": $1');
          return id === '/@localSearchIndexroot' && code.includes(anyPath)
            ? `${code.replaceAll(anyPath, '@docs/')}.replaceAll('@docs/', docsPath)`
            : undefined;
        },
      },
    ],
  },
  buildEnd: ({ outDir }) => serveAnywhere(outDir),
});
