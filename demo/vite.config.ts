import react from '@vitejs/plugin-react';
import { msw } from 'msw/vite';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  // The demo has no server: its API is mocked in production too, so the worker that answers is
  // built next to the bundle.
  plugins: [react(), msw({ mode: 'worker-only' })],
});
