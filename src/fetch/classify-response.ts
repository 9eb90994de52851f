import { classifyAnswer, type Failure, type HttpFailure, type Outcome } from '../policy/outcome.ts';
import type { Call } from './call.ts';
import { isUnexpected } from './expected-content.ts';
import { isInDoubt, weightOf } from './is-in-doubt.ts';

/** A good answer that is not what was asked for. */
export type UnexpectedFailure = Extract<Failure, { readonly kind: 'body' }>;

export const succeeded = (status: number): Outcome => ({ kind: 'ok', status, processed: 'yes' });

/** What the headers of an answer say; undefined when it is good news. */
export function classify(
  { context, facts, keyed }: Call,
  response: Response,
): HttpFailure | UnexpectedFailure | undefined {
  const { live, method, name, expect } = facts;
  const { status } = response;
  // An opaque answer has status 0, and nothing that could be read.
  if (status === 0) return undefined;
  if (response.ok) {
    // Whoever has answered, the server may or may not have done it.
    return isUnexpected(response, expect)
      ? { kind: 'body', status, processed: 'unknown' }
      : undefined;
  }
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
  failure: HttpFailure | UnexpectedFailure,
): Promise<HttpFailure | UnexpectedFailure | undefined> {
  // It is not its API that speaks.
  if (failure.kind === 'body') return failure;
  const judged = keyed ? await keyed.judge(response, failure, facts, signal) : failure;
  // What one request was refused, another of the mutation may have done.
  return judged?.processed === 'no' && facts.live.intent && isInDoubt(facts.live, weightOf(facts))
    ? { ...judged, processed: 'unknown' }
    : judged;
}
