export * from '../lib/warn.ts';
