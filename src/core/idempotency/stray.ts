import type { SteadyRequest } from '../fetch/request.ts';
import { inDevelopment } from '../lib/development.ts';
import { refuse } from '../operation/error-info.ts';
import type { Execution, Operations } from '../operation/operations.ts';
import { stepTarget } from '../operation/parts/submission.ts';
import { warnOfStray } from './warnings.ts';

/**
 * Records a write without a key, to an API that honours keys, which belongs to no operation. It is made by a mutationFn
 * that awaits something first and then uses the instance, or by code that has nothing to do with a mutation: it is not
 * known which. So each submission whose mutationFn may have made it is no longer sent again without asking.
 *
 * @returns a promise that resolves once that is stored, where it is stored later.
 * @throws TypeError if it was sent with a key before.
 */
export function recordStray(
  operations: Operations,
  request: SteadyRequest,
): Promise<unknown> | undefined {
  const { operation, method, url } = request;
  if (operation.submissionCode || !operation.isLone || request.isRepeatable) return undefined;
  const storing: Promise<void>[] = [];
  for (const execution of operations.executions) {
    if (!execution.isIdle()) continue;
    if (wasKeyed(execution, stepTarget(method, url))) refuseStray(request);
    execution.submission.recordUnkeyed();
    const stored = execution.submission.stored();
    if (stored) storing.push(stored);
    inDevelopment(() => warnOfStray(operations, request));
  }
  return storing.length > 0 ? Promise.allSettled(storing) : undefined;
}

/** Whether an earlier attempt has sent the same request with its key: it may have been done. */
function wasKeyed({ operation, submission }: Execution, target: string): boolean {
  const { steps, attempt } = operation;
  const before = steps
    ? [...steps.known.values()].filter((step) => step.attempt < attempt)
    : submission.past;
  return before.some(
    (step) => step.target === target && step.sentAt !== undefined && !step.isRefused,
  );
}

function refuseStray(request: SteadyRequest): void {
  const { method, url } = request;
  let message = `${method} ${url} was sent with the idempotency key of a mutation before, and now comes without it.`;
  inDevelopment(() => {
    message += ` It could be done twice. Send it with the fetch or json of the context of the mutationFn, also after an await.`;
  });
  refuse(new TypeError(message), request);
}
