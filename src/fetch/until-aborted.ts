export * from '../lib/wait.ts';
