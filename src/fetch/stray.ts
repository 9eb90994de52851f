import { isRepeatable } from './failure-report.ts';
import type { Operations } from './operations.ts';
import type { SentFacts } from './passage.ts';
import { warn } from './warn.ts';

/**
 * A write without a key, to an API that honours keys, which belongs to no operation. A mutationFn that
 * awaits something first and then uses the instance makes such a request, and so does code that has
 * nothing to do with it: which of them it was cannot be known. So of each submission whose mutationFn
 * may have made it, it is noted that it may not be sent again by itself. @returns what resolves once that is
 * kept, where somebody keeps it.
 */
export function noteStray(operations: Operations, facts: SentFacts): Promise<unknown> | undefined {
  const { live, api, own, method, url } = facts;
  if (!live.isSingle || !api?.idempotency || own || isRepeatable(facts)) return undefined;
  const keeping: Promise<void>[] = [];
  for (const { intent, isIdle } of operations.executions) {
    if (!isIdle()) continue;
    intent.isUnkeyed = true;
    if (intent.kept) keeping.push(intent.kept());
    if (process.env.NODE_ENV !== 'production') warnOfStray(operations, `${method} ${url}`);
  }
  return keeping.length > 0 ? Promise.allSettled(keeping) : undefined;
}

function warnOfStray(operations: Operations, request: string): void {
  const name = request.replace(/[?#].*/s, '');
  warn(
    operations,
    `stray ${name}`,
    `${name} was sent by the instance while a mutationFn ran, and without an idempotency key. If it is ` +
      `part of that mutation, send it with the fetch or json of the mutationFn's context, also after an ` +
      `await: only these give it the key that makes it safe to send again.`,
  );
}
