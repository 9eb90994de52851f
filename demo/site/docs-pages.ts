import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { renderPage, sitePathOf } from './render-page.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): Buffer => readFileSync(join(root, path));

/** All files of the docs, by where they are on the site. */
function docsFiles(): ReadonlyMap<string, () => string | Buffer> {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => extname(file) !== '')
    .map((file) => `docs/${file.replaceAll('\\', '/')}`);
  const files = new Map<string, () => string | Buffer>();
  for (const path of ['README.md', 'sim/README.md', ...docs]) {
    const sitePath = sitePathOf(path);
    if (sitePath === undefined) continue;
    files.set(sitePath, () =>
      path.endsWith('.md') ? renderPage(path, read(path).toString()) : read(path),
    );
  }
  files.set('docs/docs.css', () =>
    ['demo/src/styles/tokens.css', 'demo/site/docs.css'].map(read).join('\n'),
  );
  return files;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The docs beside the demo, as pages whose links work at any path. */
export const docsPages = (): Plugin => ({
  name: 'docs-pages',
  generateBundle() {
    for (const [fileName, make] of docsFiles()) {
      this.emitFile({ type: 'asset', fileName, source: make() });
    }
  },
  configureServer({ middlewares }) {
    middlewares.use((request, response, next) => {
      const { pathname } = new URL(request.url ?? '/', 'http://host');
      const make = docsFiles().get(pathname.slice(1));
      if (!make) return next();
      response.setHeader('Content-Type', types[extname(pathname)] ?? 'application/octet-stream');
      response.end(make());
    });
  },
});
