import type { PageLife } from '../connectivity/page-life.ts';
import type { Transport } from '../policy/clock.ts';
import { isIdempotentMethod } from '../policy/operation.ts';
import type { SteadyInit } from './create-fetch.ts';
import { readParts } from './request-parts.ts';

/** A transport that tells what the page has cut off from what the network has. */
export interface PatientTransport {
  readonly transport: Transport;
  /** Whether this rejection was the page's doing. */
  readonly isCutOff: (cause: unknown) => boolean;
}

/**
 * What is rejected while the page may be on its way out stays open until its fate is known. Where it
 * stays, the request is sent again if that does no harm; otherwise nobody knows what came of it.
 */
export function outlivePage(inner: Transport, life: PageLife | undefined): PatientTransport {
  const cutOff = new WeakSet();
  if (!life) return { transport: inner, isCutOff: () => false };
  return {
    isCutOff: (cause) => cutOff.has(Object(cause) as object),
    async transport(input, init = {}) {
      try {
        return await inner(input, init);
      } catch (cause) {
        const fate = init.signal?.aborted ? undefined : life.fate();
        if (!fate) throw cause;
        await fate;
        if (!init.signal?.aborted && isRepeatable(input, init)) return inner(input, init);
        cutOff.add(Object(cause) as object);
        throw cause;
      }
    },
  };
}

function isRepeatable(input: RequestInfo | URL, init: SteadyInit): boolean {
  const { method, request } = readParts(input, init);
  const isSpent = !!request?.body || init.body instanceof ReadableStream;
  return !isSpent && (init.idempotent || isIdempotentMethod(method));
}
