export * from './in-flight.ts';
export * from '../operation/operation.ts';
