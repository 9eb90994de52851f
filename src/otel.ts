export { traceOperations } from './otel/trace-operations.ts';
export type { TraceOptions } from './otel/trace-operations.ts';
