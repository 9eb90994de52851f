import type { LiveOperation } from './live-operation.ts';

/** Which operation a signal belongs to: the link that survives an await. */
export interface Signals {
  readonly link: (signal: AbortSignal, live: LiveOperation) => void;
  readonly find: (signal: AbortSignal | undefined) => LiveOperation | undefined;
}

export function createSignals(): Signals {
  const operations = new WeakMap<AbortSignal, LiveOperation>();
  return {
    link: (signal, live) => void operations.set(signal, live),
    find: (signal) => signal && operations.get(signal),
  };
}
