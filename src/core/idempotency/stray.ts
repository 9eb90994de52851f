import { refuseAfterKey } from '../fetch/keys.ts';
import type { SteadyRequest } from '../fetch/request.ts';
import { inDevelopment } from '../lib/development.ts';
import type { Operations } from '../operation/operations.ts';
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
  const { operation } = request;
  if (!operation.isLone || request.isRepeatable) return undefined;
  const remedy =
    inDevelopment(
      () =>
        ' Send it with the fetch or json of the context of its mutationFn, also after an await.',
    ) ?? '';
  const storing: Promise<void>[] = [];
  for (const execution of operations.executions) {
    if (!execution.isIdle()) continue;
    refuseAfterKey(request, execution.operation, remedy);
    execution.submission.recordUnkeyed();
    const stored = execution.submission.stored();
    if (stored) storing.push(stored);
    inDevelopment(() => warnOfStray(operations, request));
  }
  return storing.length > 0 ? Promise.allSettled(storing) : undefined;
}
