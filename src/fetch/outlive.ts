import type { PageLife } from '../connectivity/page-life.ts';
import { readParts } from './request-parts.ts';

/** What there is to do about a request that the page may have cut off. */
interface CutOff {
  readonly input: RequestInfo | URL;
  readonly init: RequestInit;
  readonly isRepeatable: boolean;
  /** It waits for what becomes of the page. */
  readonly hold: () => void;
  /** It is known. */
  readonly release: () => void;
  /** Sends it again. */
  readonly again: () => Promise<Response>;
}

/**
 * To be asked about every request, and every body, that has broken off. What does so while the page
 * may be on its way out stays open until its fate is known. Where the page stays, the request is sent
 * again if that does no harm; otherwise nobody knows what came of it, and there is no answer.
 */
export async function outlivePage(
  page: PageLife | undefined,
  { input, init, isRepeatable, hold, release, again }: CutOff,
): Promise<Response | undefined> {
  const fate = init.signal?.aborted ? undefined : page?.fate();
  if (!fate) return undefined;
  hold();
  await fate;
  release();
  const isOver = init.signal?.aborted || !isRepeatable || isSpent(input, init);
  return isOver ? undefined : again();
}

/** Its body can be read once. */
function isSpent(input: RequestInfo | URL, init: RequestInit): boolean {
  return !!readParts(input, init).request?.body || init.body instanceof ReadableStream;
}
