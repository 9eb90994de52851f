import type { PageLife } from '../connectivity/page-life.ts';
import type { Transport } from '../policy/clock.ts';
import { isIdempotentMethod } from '../policy/operation.ts';
import { readParts } from './request-parts.ts';

/** What a request was sent with. */
interface Sent extends RequestInit {
  readonly idempotent?: boolean | undefined;
}

/** What became of a request that was rejected: it was sent again, or that is what it comes to. */
type Outcome = { readonly response: Response } | { readonly cause: unknown };

/** Tells what the page has cut off from what the network has. */
export interface Outlive extends Pick<PageLife, 'fate'> {
  /** To be asked about every rejection of the transport. */
  readonly outlive: (input: RequestInfo | URL, init: Sent, cause: unknown) => Promise<Outcome>;
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
    async outlive(input, init, cause) {
      const fate = init.signal?.aborted ? undefined : life.fate();
      if (!fate) return { cause };
      await fate;
      if (init.signal?.aborted || !isRepeatable(input, init)) {
        cutOff.add(Object(cause) as object);
        return { cause };
      }
      try {
        return { response: await transport(input, init) };
      } catch (error) {
        return { cause: error };
      }
    },
  };
}

function isRepeatable(input: RequestInfo | URL, init: Sent): boolean {
  const { method, request } = readParts(input, init);
  const isSpent = !!request?.body || init.body instanceof ReadableStream;
  return !isSpent && (init.idempotent || isIdempotentMethod(method));
}
