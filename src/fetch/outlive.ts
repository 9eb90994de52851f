export * from './page-exit.ts';
