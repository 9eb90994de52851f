export * from '../operation/intent.ts';
