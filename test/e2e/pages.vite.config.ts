import { existsSync } from 'node:fs';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** A service worker of the page; its name stays, because it is registered by it. */
const worker = 'sw.ts';

// Of every page of this folder: each is built where it is.
export default defineConfig({
  plugins: [react()],
  build: existsSync(worker)
    ? {
        rolldownOptions: { input: ['index.html', worker], output: { entryFileNames: '[name].js' } },
      }
    : {},
});
