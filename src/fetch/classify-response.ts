import { classifyAnswer, type HttpFailure } from '../policy/classify.ts';
import type { Outcome } from '../policy/outcome.ts';
import type { Call } from './call.ts';
import { isInDoubt, weightOf } from './is-in-doubt.ts';

export const succeeded = (status: number): Outcome => ({ kind: 'ok', status, processed: 'yes' });

/** What the headers of an answer say; undefined when it is good news. */
export function classify(
  { context, facts, keyed }: Call,
  response: Response,
): HttpFailure | undefined {
  const { live, method, name } = facts;
  const { status } = response;
  // An opaque answer has status 0, and nothing that could be read.
  if (response.ok || status === 0) return undefined;
  if (method === 'DELETE' && [404, 410].includes(status) && live.unsure?.has(name))
    return undefined;
  return classifyAnswer(
    { status, header: (field) => response.headers.get(field) },
    context.clock.now(),
    !!keyed?.isInProgress(response),
  );
}

/** The same, as its API means it, and after what the operation has done before. */
export async function judge(
  { facts, keyed, signal }: Call,
  response: Response,
  failure: HttpFailure,
): Promise<HttpFailure | undefined> {
  const judged = keyed ? await keyed.judge(response, failure, facts, signal) : failure;
  // What one request was refused, another of the mutation may have done.
  return judged?.processed === 'no' && facts.live.intent && isInDoubt(facts.live, weightOf(facts))
    ? { ...judged, processed: 'unknown' }
    : judged;
}
