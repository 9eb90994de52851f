import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** A folder, as a static host serves it: compressed, and below a path of its own. */
export async function serveFolder(
  folder: string,
  path: string,
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host');
    const below = pathname.startsWith(path) ? pathname.slice(path.length) : '?';
    const name = below.replace(/(?<=^|\/)$/, 'index.html');
    const type = types[extname(name)];
    try {
      const body = gzipSync(readFileSync(resolve(folder, decodeURIComponent(name))));
      response.writeHead(200, {
        ...(type !== undefined && { 'Content-Type': type }),
        'Content-Encoding': 'gzip',
        'Cache-Control': 'max-age=600',
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${path}`, server };
}
