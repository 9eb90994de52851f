export * from './unkeyed.ts';
export * from './in-flight.ts';
