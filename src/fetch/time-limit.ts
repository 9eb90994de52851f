export * from '../operation/time-limit.ts';
