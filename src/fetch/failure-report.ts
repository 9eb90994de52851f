export * from '../operation/error-info.ts';
export * from '../operation/operation.ts';
