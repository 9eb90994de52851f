import type { Clock } from '../lib/clock.ts';

/**
 * So long after its end, a press of the same payload still belongs to a submission: the second half
 * of a double click, or an action that React has queued behind it.
 */
const echoMs = { succeeded: 1000, failed: 100, unknown: 100 };

/** How a submission ends. */
export type EndStatus = keyof typeof echoMs;

/** The end of the last submission, as long as a press can belong to it. */
export interface Echo<T> {
  readonly note: (fingerprint: string, result: T) => void;
  readonly find: (fingerprint: string) => T | undefined;
  readonly clear: () => void;
}

export function createEcho<T extends { readonly status: EndStatus }>(clock: Clock): Echo<T> {
  let last: { readonly fingerprint: string; readonly result: T; readonly at: number } | undefined;
  return {
    note(fingerprint, result) {
      last = { fingerprint, result, at: clock.now() };
    },
    find(fingerprint) {
      if (last?.fingerprint !== fingerprint) return undefined;
      const sinceMs = clock.now() - last.at;
      return sinceMs >= 0 && sinceMs < echoMs[last.result.status] ? last.result : undefined;
    },
    clear() {
      last = undefined;
    },
  };
}
