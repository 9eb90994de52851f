import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Of every page of this folder: each is built where it is.
export default defineConfig({ plugins: [react()] });
