import react from '@vitejs/plugin-react';
import { msw } from 'msw/vite';
import { defineConfig, type Plugin } from 'vite';
import { docsPages } from './site/docs-pages.ts';

/** A site that shows a link to the demo wants its picture's whole address, which only its host knows. */
const absolutePicture = (url: string): Plugin => ({
  name: 'absolute-picture',
  transformIndexHtml: (html) =>
    html.replace('content="./storm.jpg"', `content="${new URL('storm.jpg', url).href}"`),
});

const url = process.env['DEMO_URL'];

export default defineConfig({
  root: import.meta.dirname,
  // It works at any path.
  base: './',
  // The lab's worker imports what it needs as modules.
  worker: { format: 'es' },
  resolve: {
    alias: [
      { find: /^tough-cookie$/, replacement: `${import.meta.dirname}/src/api/no-cookies.ts` },
    ],
  },
  // The demo has no server: its API is mocked in production too, so the worker that answers is
  // built next to the bundle.
  plugins: [react(), msw({ mode: 'worker-only' }), docsPages(), url ? absolutePicture(url) : []],
});
