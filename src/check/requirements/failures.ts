import { describe, type Operation } from '../api.ts';
import { isDone, isInProgress, type Keeping } from '../dialects.ts';
import type { Measured } from '../evidence.ts';
import { all, CannotTell, type Finding, holds, met, unknown, violated, times } from '../finding.ts';
import type { Trigger } from '../settings.ts';
import type { Answer } from '../wire.ts';
import { type Check, declaredBy, draft, type Requirement } from './requirement.ts';

interface Failed {
  readonly operation: Operation;
  readonly failed: Answer;
  readonly again: Answer;
  readonly third: Answer;
  readonly measured: Measured<readonly Answer[]>;
}

/** A request that is made to fail, then the same one that is not, twice. */
const afterTrigger = (check: Check, trigger: Trigger): Promise<Failed> =>
  check.once(trigger, async () => {
    const { api, evidence, settings } = check;
    const triggering = settings.triggers[trigger];
    const operation = api.operation();
    // Where the body triggers it, the retry has the same body.
    const change = triggering && 'body' in triggering ? { trigger } : {};
    const measured = await evidence.measure(async () => {
      const failed = await api.send(operation, { trigger });
      const again = await api.sendUntilAnswered(operation, change);
      return [failed, again, await api.sendUntilAnswered(operation, change)] as const;
    });
    const [failed, again, third] = measured.result;
    return { operation, failed, again, third, measured };
  });

/** @throws CannotTell unless the trigger had an answer of its class. */
function requireClass(failed: Answer, hundred: number, trigger: Trigger): void {
  if (Math.floor(failed.status / 100) === hundred) return;
  throw new CannotTell(
    `--trigger ${trigger} should make it answer ${hundred}xx, and it answers ${describe(failed)}`,
  );
}

/** Whether a failure is kept as declared. */
function isKept(keeping: Keeping, { failed, again }: Failed): Finding {
  const isStored = again.status === failed.status;
  if (keeping === 'either') return met;
  return holds(
    isStored === (keeping === 'stored'),
    `declared: ${keeping}; first ${describe(failed)}, then ${describe(again)}`,
  );
}

/** Whether the key of a failure is neither blocked for ever nor inconsistent. */
function isSettled(check: Check, { failed, again, third }: Failed): Finding {
  const { declared } = check;
  if (isInProgress(declared, again) && failed.status !== again.status)
    return violated(
      `the key is still “running” after ${check.settings.leaseMs} ms: ${describe(again)}`,
    );
  const isStored = again.status === failed.status;
  if (!isDone(declared, again) && !isStored)
    return violated(`first ${describe(failed)}, then ${describe(again)}`);
  const isLasting =
    again.status === third.status || (isDone(declared, again) && isDone(declared, third));
  return holds(
    isLasting,
    `the second and the third differ: ${describe(again)}, then ${describe(third)}`,
  );
}

const hasHeader = ({ settings }: Check, trigger: Trigger): boolean => {
  const triggering = settings.triggers[trigger];
  return triggering !== undefined && 'header' in triggering;
};

async function ofFailure(
  check: Check,
  trigger: Trigger,
  hundred: number,
  judge: (failed: Failed) => Finding,
): Promise<Finding> {
  const failed = await afterTrigger(check, trigger);
  requireClass(failed.failed, hundred, trigger);
  return judge(failed);
}

/** The state that a failed request leaves behind. */
export const afterFailures: readonly Requirement[] = [
  {
    id: 'refusal-kept',
    sentence: 'A refusal (4xx) by the handler is stored under its key, or not, as declared.',
    source: declaredBy,
    level: 'must',
    needs: ['refuse'],
    appliesTo: ({ refusals }) => refusals !== 'either',
    run: (check) =>
      ofFailure(check, 'refuse', 4, (failed) =>
        hasHeader(check, 'refuse') || failed.again.status !== failed.failed.status
          ? isKept(check.declared.refusals, failed)
          : unknown(
              'a body that is always refused does not show it: give --trigger refuse a header',
            ),
      ),
  },
  {
    id: 'refusal-settled',
    sentence: 'After a refusal its key has an answer: the refusal again, or what a new try gives.',
    source: draft('2.6'),
    level: 'must',
    needs: ['refuse'],
    run: (check) => ofFailure(check, 'refuse', 4, (failed) => isSettled(check, failed)),
  },
  {
    id: 'failure-kept',
    sentence: 'A failure (5xx) of the handler is stored under its key, or not, as declared.',
    source: declaredBy,
    level: 'must',
    needs: ['fail'],
    appliesTo: ({ failures }) => failures !== 'either',
    run: (check) =>
      ofFailure(check, 'fail', 5, (failed) =>
        hasHeader(check, 'fail')
          ? isKept(check.declared.failures, failed)
          : unknown('a body that always fails does not show it: give --trigger fail a header'),
      ),
  },
  {
    id: 'failure-settled',
    sentence: 'After a failure its key is not blocked, and gets one lasting answer.',
    source: draft('2.6'),
    level: 'must',
    needs: ['fail'],
    run: (check) => ofFailure(check, 'fail', 5, (failed) => isSettled(check, failed)),
  },
  {
    id: 'failure-once',
    sentence: 'After a failure and its retries, the operation has been done once at most.',
    source: draft('2.6'),
    level: 'must',
    needs: ['fail'],
    run: (check) =>
      ofFailure(check, 'fail', 5, ({ again, measured }) =>
        isDone(check.declared, again)
          ? check.evidence.ranTimes(1, measured, { unseen: 1 })
          : holds(
              !measured.effects,
              `stored as failed, and done ${times(measured.effects)}, by the count`,
            ),
      ),
  },
  {
    id: 'late-failure-once',
    sentence: 'A failure after the effect, and its retry, leave the effect once.',
    source: draft('1'),
    level: 'must',
    needs: ['failLate', 'count'],
    run: (check) =>
      ofFailure(check, 'failLate', 5, ({ again, measured }) => {
        const { effects = 0 } = measured;
        return holds(
          effects === 1 || (effects === 0 && !isDone(check.declared, again)),
          `done ${times(effects)}, by the count; the retry is answered ${describe(again)}`,
        );
      }),
  },
  {
    id: 'crash-settled',
    sentence: 'After a crash of the handler its key gets an answer, within the lease.',
    source: draft('2.5.2, the lifecycle of the key'),
    level: 'must',
    needs: ['crash'],
    run: async (check) => {
      const { again } = await crashed(check);
      return holds(
        isDone(check.declared, again),
        `after ${check.settings.leaseMs} ms it is answered ${describe(again)}`,
      );
    },
  },
  {
    id: 'crash-once',
    sentence: 'After a crash of the handler and a retry, the operation has been done once.',
    source: draft('1'),
    level: 'must',
    needs: ['crash', 'count'],
    run: async (check) => {
      const { again, third, measured } = await crashed(check);
      return all(
        check.evidence.ranTimes(1, { ...measured, result: [again, third] }),
        holds(isDone(check.declared, third), `${describe(again)}, then ${describe(third)}`),
      );
    },
  },
];

const crashed = (check: Check): Promise<Failed> =>
  check.once('crashed', async () => {
    const { api, evidence } = check;
    const operation = api.operation();
    const measured = await evidence.measure(async () => {
      const failed = await api.send(operation, { trigger: 'crash' });
      const again = await sendAfterCrash(check, operation);
      return [failed, again, await api.sendUntilAnswered(operation)] as const;
    });
    const [failed, again, third] = measured.result;
    return { operation, failed, again, third, measured };
  });

/** A server that restarts does not answer for a moment. */
async function sendAfterCrash({ api, settings }: Check, operation: Operation): Promise<Answer> {
  const { restart } = settings.hooks;
  await restart?.();
  let answer = await api.sendUntilAnswered(operation);
  for (let left = 10; answer.status === 0 && left > 0; left -= 1)
    answer = await api.sendUntilAnswered(operation);
  return answer;
}
