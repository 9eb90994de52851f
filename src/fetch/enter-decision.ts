export * from '../operation/operations.ts';
