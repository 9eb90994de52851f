import type { Server } from 'node:http';
import type { Connect, Plugin } from 'vite';

const base = '/docs/';

/** The docs beside the demo while it is developed, as in the build. Their server starts when a page is requested. */
export const docs = (): Plugin => ({
  name: 'docs',
  apply: 'serve',
  configureServer({ middlewares, httpServer }) {
    const start = async (): Promise<Connect.NextHandleFunction> => {
      const { createServer } = await import('vitepress');
      const hmr = { server: httpServer as Server };
      const server = await createServer('docs', { base, middlewareMode: true, hmr });
      httpServer?.once('close', () => void server.close());
      return server.middlewares;
    };
    let started: ReturnType<typeof start> | undefined;
    middlewares.use((request, response, next) => {
      if (!request.url?.startsWith(base)) return next();
      started ??= start();
      started.then((answer) => answer(request, response, next), next);
    });
  },
});
