export * from './admit.ts';
export * from './in-flight.ts';
