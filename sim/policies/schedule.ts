import type { OpenTab, TabContext } from './policy.ts';
import { AttemptError, send } from './send.ts';

/** What a schedule knows when it is asked for the next wait. */
interface Failed {
  /** The retry that the wait would precede, counted from 1. */
  readonly retry: number;
  readonly error: AttemptError;
  readonly previousMs: number | undefined;
}

/** The waits of one tab. */
export interface Schedule {
  /** Undefined gives up. */
  readonly waitMs: (failed: Failed) => number | undefined;
  /** An operation has ended well, after so many retries. */
  readonly onSuccess?: (retries: number) => void;
}

/** A client that retries by a schedule and knows nothing else. */
export function retryBySchedule(createSchedule: (context: TabContext) => Schedule): OpenTab {
  return (context) => {
    const { clock } = context;
    const schedule = createSchedule(context);
    return async (url) => {
      let previousMs: number | undefined;
      for (let retry = 1; ; retry++) {
        try {
          const response = await send(context, url);
          schedule.onSuccess?.(retry - 1);
          return response;
        } catch (error) {
          if (!(error instanceof AttemptError)) throw error;
          const waitMs = schedule.waitMs({ retry, error, previousMs });
          if (waitMs === undefined) throw error;
          previousMs = waitMs;
          await new Promise<void>((resolve) => void clock.setTimeout(resolve, waitMs));
        }
      }
    };
  };
}
