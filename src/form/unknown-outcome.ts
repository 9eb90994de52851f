import type { QueryClient } from '@tanstack/react-query';
import { unsettled, withLimit } from '../lib/timer.ts';
import { type FormSubmission, isExpired } from './submission.ts';
import type { FormContext, Sent } from './send.ts';
import type { FormPresses } from './presses.ts';
import { definitionBehind } from '../react-query/mutation/definition.ts';
import type { UnknownSubmission } from './safe-submit.ts';

/** What is known of an earlier submission of a form that may have been done, and how to find out more. */
export function createFormUnknown<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  {
    instance,
    submissions,
    observer,
    options,
    changed,
  }: FormContext<TData, TError, TVariables, TOnMutateResult>,
  presses: FormPresses<TData, TError, TVariables>,
): () => UnknownSubmission<TVariables> | undefined {
  let isResolving = false;

  /** What this page has sent of it. */
  const sentOf = (known: FormSubmission): Sent<TVariables, TError> | undefined => {
    const sent = presses.sent();
    return sent?.key === known.key ? sent : undefined;
  };
  const variablesOf = (known: FormSubmission): TVariables | undefined =>
    (sentOf(known) ?? { variables: known.payload as TVariables | undefined }).variables;

  const resolve = async (): Promise<'done' | 'not-done' | 'unknown'> => {
    const known = submissions.read();
    const { resolve: ask, mutation } = options() ?? {};
    const definition = definitionBehind(client.defaultMutationOptions(mutation).mutationFn);
    const isOpen = !presses.isUnderWay() && !isResolving && known !== undefined;
    if (!ask || !definition || !isOpen) return 'unknown';
    const { key, fingerprint } = known;
    const { fetch, json } = definition;
    const variables = variablesOf(known);
    isResolving = true;
    changed();
    // Nobody knows better when it fails, or never answers.
    const said = await withLimit(
      instance,
      () => ask({ idempotencyKey: key, variables, fetch, json }),
      () => unsettled('resolve'),
    ).catch(() => 'unknown' as const);
    const isAnswer = said === 'not-done' || (Object(said) === said && 'done' in (said as object));
    const answer = isAnswer ? said : 'unknown';
    isResolving = false;
    // In the meantime it may have been sent again, which ends in the same.
    const now = submissions.read();
    const isStillOpen = !presses.isUnderWay() && now?.key === key && now.sentBy === known.sentBy;
    if (isStillOpen && answer === 'not-done') presses.endAsNotDone(known);
    if (isStillOpen && typeof answer === 'object') {
      const data = answer.done;
      submissions.remove(key);
      presses.clear();
      await presses.take(fingerprint, async () => {
        await observer.finish(data, variables);
        return { status: 'succeeded', data };
      });
    }
    changed();
    return typeof answer === 'object' ? 'done' : answer;
  };

  return () => {
    const known = submissions.read();
    if (presses.isUnderWay() || !known) return undefined;
    const { key, createdAt } = known;
    return {
      idempotencyKey: key,
      since: createdAt,
      variables: variablesOf(known),
      error: sentOf(known)?.error,
      isRepeatable: !!known.isRepeatable,
      isExpired: isExpired(known, instance.wall.now()),
      isResolving,
      resolve,
    };
  };
}
