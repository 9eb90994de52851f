/**
 * Makes this process run the code as a production build does. Reading Node's own `process.env` is a
 * call into the system, which no browser bundle makes: a plain object takes its place. Stack traces
 * are what errors cost most, and nobody reads them here.
 */
export function runAsProduction(): void {
  process.env = { ...process.env, NODE_ENV: 'production' };
  Error.stackTraceLimit = 0;
}
