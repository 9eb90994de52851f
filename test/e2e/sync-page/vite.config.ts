import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // It has no React in it; but the plugin knows which of the bundler's warnings mean nothing.
  plugins: [react()],
  build: {
    target: 'es2023',
    rolldownOptions: {
      input: [`${import.meta.dirname}/index.html`, `${import.meta.dirname}/sw.ts`],
      output: { entryFileNames: '[name].js' },
    },
  },
});
