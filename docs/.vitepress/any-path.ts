import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** VitePress builds for one path. This one stands for any, until `serveAnywhere` has taken it out again. */
export const anyPath = '/_any-path_/';

/** Makes links relative, and tells scripts the path of the docs, which they find by the page's own. */
const changes: Readonly<Record<string, (text: string, up: string) => string>> = {
  '.html': (text, up) =>
    text
      .replaceAll(`="${anyPath}`, `="${up}`)
      .replaceAll(`\\"${anyPath}`, '\\""+docsPath+"')
      .replace('<head>', `$&<script>docsPath = new URL('${up}', location).pathname</script>`),
  '.js': (text) => text.replaceAll(new RegExp(`"${anyPath}([^"]*)"`, 'g'), '(docsPath+"$1")'),
};

/** Changes the built docs so that they work below any path, as the demo beside them does. */
export function serveAnywhere(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const change = changes[extname(name)];
    if (!change) continue;
    const file = join(folder, name);
    const up = `./${'../'.repeat(name.split(/[\\/]/).length - 1)}`;
    const text = change(readFileSync(file, 'utf8'), up);
    if (text.includes(anyPath)) throw new Error(`${name} works at one path only.`);
    writeFileSync(file, text);
  }
}
