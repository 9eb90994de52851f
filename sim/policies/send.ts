import type { TabContext } from './policy.ts';

/** An attempt that failed, as a client with an opinion on status codes throws it. */
export class AttemptError extends Error {
  readonly status: number | undefined;
  readonly isTimeout: boolean;
  readonly retryAfterMs: number | undefined;

  constructor(status?: number, isTimeout = false, retryAfterMs?: number) {
    super(isTimeout ? 'timed out' : `${status ?? 'no answer'}`);
    this.status = status;
    this.isTimeout = isTimeout;
    this.retryAfterMs = retryAfterMs;
  }
}

type Sender = Pick<TabContext, 'clock' | 'fetch' | 'timeoutMs'>;

/**
 * One attempt with a time limit, and nothing else: what a policy that brings no client of its own
 * is given to retry. Rejects with an AttemptError.
 */
export function send({ clock, fetch, timeoutMs }: Sender, url: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => reject(new AttemptError(undefined, true)), timeoutMs);
    fetch(url)
      .then(refuseFailures, () => {
        throw new AttemptError();
      })
      .finally(() => clock.clearTimeout(timer))
      .then(resolve, reject);
  });
}

function refuseFailures(response: Response): Response {
  const { ok, status, headers } = response;
  if (ok) return response;
  const retryAfter = headers.get('retry-after');
  throw new AttemptError(status, false, retryAfter === null ? undefined : +retryAfter * 1000);
}
