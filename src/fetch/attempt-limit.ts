export * from '../operation/retry-loop.ts';
