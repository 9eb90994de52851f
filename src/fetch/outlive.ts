import type { PageLife } from '../connectivity/page-life.ts';
import type { Transport } from '../policy/clock.ts';
import { readParts } from './request-parts.ts';

/** What became of a request that was rejected: it was sent again, or that is what it comes to. */
type Outcome = { readonly response: Response } | { readonly cause: unknown };

/** Tells what the page has cut off from what the network has. */
export interface Outlive extends Pick<PageLife, 'fate'> {
  /** To be asked about every rejection of the transport. It holds the time limit while it waits. */
  readonly outlive: (
    input: RequestInfo | URL,
    init: RequestInit,
    cause: unknown,
    isRepeatable: boolean,
    limit: (isOn: boolean) => void,
  ) => Promise<Outcome>;
  /** Whether this rejection was the page's doing. */
  readonly isCutOff: (cause: unknown) => boolean;
}

/**
 * What is rejected while the page may be on its way out stays open until its fate is known. Where it
 * stays, the request is sent again if that does no harm; otherwise nobody knows what came of it.
 */
export function outlivePage(transport: Transport, life: PageLife): Outlive {
  const cutOff = new WeakSet();
  return {
    fate: life.fate,
    isCutOff: (cause) => cutOff.has(Object(cause) as object),
    async outlive(input, init, cause, isRepeatable, limit) {
      const fate = init.signal?.aborted ? undefined : life.fate();
      if (!fate) return { cause };
      limit(false);
      await fate;
      if (init.signal?.aborted || !isRepeatable || isSpent(input, init)) {
        cutOff.add(Object(cause) as object);
        return { cause };
      }
      limit(true);
      try {
        return { response: await transport(input, init) };
      } catch (error) {
        return { cause: error };
      }
    },
  };
}

/** Its body can be read once. */
function isSpent(input: RequestInfo | URL, init: RequestInit): boolean {
  return !!readParts(input, init).request?.body || init.body instanceof ReadableStream;
}
