import { untilAborted } from '../../lib/timer.ts';
import { discard } from '../../lib/discard.ts';
import { failures } from '../../policy/outcome.ts';
import { sign } from '../extension.ts';
import { isSentOnce } from '../init.ts';
import type { Attempt } from './attempt.ts';
import { classifyStatus, succeeded } from './classify.ts';

/**
 * Called for every request, and every body, that has broken off. If the page may be closing, the request stays open until
 * that is known. If the page stays, and the whole answer is wanted, the request is sent again if that does no harm.
 * Otherwise its outcome stays unknown, and there is no answer.
 */
export async function outlivePage(
  attempt: Attempt,
  isWhole: boolean,
): Promise<Response | undefined> {
  const { context, request, init, signal } = attempt;
  const { page, clock } = context;
  const fate = signal.aborted ? undefined : page?.fate();
  if (!fate) return undefined;
  const cutOffAt = clock.now();
  attempt.silence.awaitNothing();
  // A page that is left says nothing about the server. The slot is freed.
  attempt.sending?.end(failures.aborted);
  await untilAborted(signal, fate);
  request.operation.pauses.count(cutOffAt, clock.now());
  const isUnsafe = !request.isRepeatable || isSentOnce(request.passed, init);
  if (signal.aborted || !isWhole || isUnsafe) return undefined;
  attempt.grant(await context.admit(request));
  await sign(attempt);
  return attempt.transmit();
}

/** Requests an answer again whose body broke off while the page seemed to close, but stayed. */
export async function resend(
  attempt: Attempt,
  { status }: Response,
  isWhole: boolean,
): Promise<Response | undefined> {
  try {
    const next = await outlivePage(attempt, isWhole);
    if (next) {
      attempt.receiveHeaders(next);
      attempt.sending?.end(classifyStatus(attempt, next) ?? succeeded(status), undefined, next);
    }
    if (next?.status === status) return next;
    discard(next);
    return undefined;
  } catch (error) {
    attempt.sending?.end(attempt.signal.aborted ? failures.aborted : failures.network, error);
    return undefined;
  }
}
