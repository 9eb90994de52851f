export * from '../operation/errors.ts';
