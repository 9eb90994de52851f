import { isRepeatable } from '../../operation/error-info.ts';
import { failures } from '../../policy/outcome.ts';
import { classify, succeeded } from './classify.ts';
import { type Call, transmit, untilStopped } from './in-flight.ts';
import { isStream, readParts } from './request.ts';

/**
 * To be asked about every request, and every body, that has broken off. What does so while the page
 * may be on its way out stays open until its fate is known. Where the page stays, and all of the
 * answer is wanted, the request is sent again if that does no harm; otherwise nobody knows what came
 * of it, and there is no answer.
 */
export async function outlivePage(call: Call, isWhole: boolean): Promise<Response | undefined> {
  const { caller, context, facts, init, input, limit, limitMs, signal } = call;
  const { operation } = facts;
  const { page, clock } = context;
  const fate = signal.aborted ? undefined : page?.fate();
  if (!fate) return undefined;
  const cutOffAt = clock.now();
  limit.stop();
  // It shows nothing, and leaves its place to others.
  call.recordOutcome(failures.aborted);
  await untilStopped(call, fate);
  operation.pauses.count(cutOffAt, clock.now());
  if (signal.aborted || !isWhole || !isRepeatable(facts) || isSpent(input, init)) return undefined;
  call.recordOutcome = await context.enter(facts, caller);
  limit.restart(limitMs);
  return transmit(call);
}

/** Asks for an answer again whose body has broken off, where the page that was left has stayed. */
export async function askAgain(
  call: Call,
  { status }: Response,
  isWhole: boolean,
): Promise<Response | undefined> {
  try {
    const next = await outlivePage(call, isWhole);
    if (next) call.recordOutcome(classify(call, next) ?? succeeded(status), undefined, next);
    return next?.status === status ? next : undefined;
  } catch (error) {
    call.recordOutcome(call.signal.aborted ? failures.aborted : failures.network, error);
    return undefined;
  }
}

/** Its body can be read once. */
function isSpent(input: RequestInfo | URL, init: RequestInit): boolean {
  return !!readParts(input, init).request?.body || isStream(init.body);
}
