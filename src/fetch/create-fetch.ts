export * from './fetch.ts';
