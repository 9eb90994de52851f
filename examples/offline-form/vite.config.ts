import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { VitePWA } from 'vite-plugin-pwa';

export default defineConfig({
  // The page opens without a network, too. Requests of the API pass it by.
  plugins: [react(), VitePWA({ registerType: 'autoUpdate', injectRegister: 'inline' })],
  server: { proxy: { '/api': 'http://localhost:3000' } },
});
