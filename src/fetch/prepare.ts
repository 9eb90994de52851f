import { abortedBy, type FetchContext } from './call.ts';
import { TimeoutError } from './errors.ts';
import { reportFailure } from './failure-report.ts';
import { view } from './operations.ts';
import type { SentFacts } from './passage.ts';
import { shown } from './request-parts.ts';
import { headersLimit, ifSlow, noLimit, setLimit } from './time-limit.ts';
import { untilAborted } from './until-aborted.ts';

/**
 * Waits for what a request needs before it goes: its body, or the storage that keeps its intent. No
 * longer than for its headers, and not beyond the caller's abort.
 *
 * @throws TimeoutError of a request that was not sent; the caller's abort reason.
 */
export async function prepare<T>(
  context: FetchContext,
  facts: SentFacts,
  signal: AbortSignal | undefined,
  needed: Promise<T>,
): Promise<T> {
  const { live } = facts;
  const limitMs = headersLimit(context.operations.policyOf(live, facts).timeout);
  const limit = noLimit();
  let expire = (): void => {};
  const late = new Promise<never>((_, reject) => {
    expire = () => reject(notReady(facts, limitMs));
  });
  const limited = { context, facts, expire };
  setLimit(limited, limit, limitMs);
  try {
    return await untilAborted(signal, Promise.race([needed, late]));
  } catch (error) {
    throw signal?.aborted ? abortedBy(live, signal) : error;
  } finally {
    setLimit(limited, limit);
  }
}

function notReady(facts: SentFacts, limitMs: number): TimeoutError {
  const { live, name } = facts;
  // What an earlier attempt may have done, this one does not undo.
  const processed = live.unsure ? 'unknown' : 'no';
  const outcome = { kind: 'timeout', phase: 'headers', processed } as const;
  const what = `${shown(name)}: not sent, what it needs was not there within ${limitMs} ms${ifSlow}.`;
  const error = new TimeoutError(what, { operation: view(live, facts), outcome });
  reportFailure(error, { ...facts, failure: outcome });
  return error;
}
