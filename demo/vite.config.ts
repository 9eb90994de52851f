import react from '@vitejs/plugin-react';
import { msw } from 'msw/vite';
import { defineConfig } from 'vite';
import { withAddress } from './site/address.ts';
import { docs } from './site/docs.ts';
import { shells } from './site/shells.tsx';

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
  plugins: [
    react(),
    msw({ mode: 'worker-only' }),
    docs(),
    shells(),
    url !== undefined && {
      name: 'address',
      transformIndexHtml: (html: string) => withAddress(html, url),
    },
  ],
});
