import { describe, type Operation } from '../api.ts';
import { isDone } from '../dialects.ts';
import { all, type Finding, holds } from '../finding.ts';
import { type Departure, wait } from '../wire.ts';
import { type Check, draft, type Requirement, perform, difference } from './requirement.ts';
import { meanwhile } from './simultaneous.ts';

/** A client that goes away, and asks again twice. */
async function afterLeaving(check: Check, when: Departure, isSlow = false): Promise<Finding> {
  const { api, evidence, declared } = check;
  const operation: Operation = api.operation();
  const trigger = isSlow ? ({ trigger: 'slow' } as const) : undefined;
  const { slow } = check.settings.triggers;
  const again = isSlow && slow && 'body' in slow ? trigger : undefined;
  // Not within the count below, because it does other operations.
  const runsMs = isSlow ? (await meanwhile(check)).firstMs * 2 : 50;
  const measured = await evidence.measure(async () => {
    await api.leave(operation, when, trigger);
    await wait(20);
    const first = await api.sendUntilAnswered(operation, again);
    // The one whose client is gone may still be running.
    for (let left = 8; left > 0; left -= 1) {
      await wait(runsMs / 8);
      if (isSlow) await api.sendUntilAnswered(operation, again);
    }
    return [first, await api.sendUntilAnswered(operation, again)] as const;
  });
  const [first, second] = measured.result;
  const isAnswered = isDone(declared, first);
  return all(
    holds(isAnswered, `the retry is answered ${describe(first)}`),
    holds(
      difference(check, first, second) === undefined,
      `${describe(first)}, then ${describe(second)}`,
    ),
    evidence.ranTimes(1, measured, { unseen: when === 'half' ? 0 : 1 }),
  );
}

/** Answers that never arrive, and keys that grow old. */
export const losses: readonly Requirement[] = [
  {
    id: 'lost-request',
    sentence: 'A request whose connection breaks in its middle does not block its key.',
    source: draft('2.5.2, the lifecycle of the key'),
    level: 'must',
    run: (check) => afterLeaving(check, 'half'),
  },
  {
    id: 'lost-answer',
    sentence: 'A request whose client is gone before the answer is done once, with its retries.',
    source: draft('1'),
    level: 'must',
    run: (check) => afterLeaving(check, 'sent'),
  },
  {
    id: 'lost-body',
    sentence:
      'A request whose client is gone at the first byte of the answer is done once, with its retries.',
    source: draft('1'),
    level: 'must',
    run: (check) => afterLeaving(check, 'answered'),
  },
  {
    id: 'lost-while-running',
    sentence:
      'A request whose client is gone while the handler runs is done once, with its retries.',
    source: draft('1'),
    level: 'must',
    needs: ['slow'],
    run: (check) => afterLeaving(check, 'sent', true),
  },
  {
    id: 'survives-restart',
    sentence: 'Keys and answers survive a restart of the server.',
    source: draft('2.3'),
    level: 'must',
    needs: ['restart'],
    run: async (check) => {
      const { operation, first } = await perform(check);
      await check.settings.hooks.restart?.();
      const again = await check.api.sendUntilAnswered(operation);
      const differs = difference(check, first, again);
      return holds(differs === undefined, differs ?? '');
    },
  },
  {
    id: 'kept-for-lifetime',
    sentence: 'A key is kept as long as the API declares.',
    source: draft('2.3'),
    level: 'must',
    needs: ['lifetime'],
    run: async (check) => {
      const { first, shortlyBefore } = await aged(check);
      const differs = difference(check, first, shortlyBefore);
      return holds(differs === undefined, `after 90 % of the lifetime: ${differs}`);
    },
  },
  {
    id: 'kept-though-replayed',
    sentence: 'A lifetime counts from the first request: a replay does not make it longer.',
    source: draft('2.3'),
    level: 'should',
    needs: ['lifetime'],
    run: async (check) => {
      const { first, after } = await aged(check);
      return holds(
        !check.evidence.canTell || !check.evidence.isSameOperation(first, after),
        `after 120 % of the lifetime it is still answered ${describe(after)}`,
      );
    },
  },
];

/** A key that is asked for shortly before the end of its lifetime, and after it. */
const aged = (check: Check) =>
  check.once('aged', async () => {
    const { api, settings, declared } = check;
    const { lifetimeMs = 0 } = declared.profile;
    const { advanceClock } = settings.hooks;
    const pass = async (ms: number): Promise<void> =>
      advanceClock ? await advanceClock(ms) : wait(ms);
    const { operation, first } = await perform(check);
    await pass(lifetimeMs * 0.9);
    const shortlyBefore = await api.sendUntilAnswered(operation);
    await pass(lifetimeMs * 0.3);
    return { first, shortlyBefore, after: await api.sendUntilAnswered(operation) };
  });
