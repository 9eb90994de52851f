export * from '../operation/operation.ts';
