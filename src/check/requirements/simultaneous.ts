import { describe, type Operation } from '../api.ts';
import { isDone, isInProgress, isMismatch } from '../dialects.ts';
import type { Measured } from '../evidence.ts';
import { all, CannotTell, type Finding, holds, met, unknown, violated, times } from '../finding.ts';
import type { Answer } from '../wire.ts';
import { wait } from '../wire.ts';
import { type Check, declaredBy, difference, draft, type Requirement } from './requirement.ts';

const atOnce = 5;

interface Race {
  readonly rounds: readonly {
    readonly answers: readonly Answer[];
    readonly after: Answer;
    readonly measured: Measured<readonly Answer[]>;
  }[];
}

/** The same request five times at the same moment, in three rounds. */
const race = (check: Check): Promise<Race> =>
  check.once('race', async () => {
    const rounds = [];
    for (let round = 0; round < 3; round += 1) {
      const operation = check.api.operation();
      const measured = await check.evidence.measure(async () => {
        const answers = await check.api.sendAtOnce(
          Array.from({ length: atOnce }, () => [operation]),
        );
        return [...answers, await check.api.sendUntilAnswered(operation)];
      });
      const answers = measured.result.slice(0, atOnce);
      rounds.push({ answers, after: measured.result[atOnce] as Answer, measured });
    }
    return { rounds };
  });

interface Meanwhile {
  readonly same: Answer;
  readonly otherKey: Answer;
  readonly otherBytes: Answer | undefined;
  readonly first: Answer;
  readonly firstMs: number;
  readonly after: Answer;
  readonly measured: Measured<readonly Answer[]>;
}

/** A slow request, and what others get while it runs. */
export const meanwhile = (check: Check): Promise<Meanwhile> =>
  check.once('meanwhile', async () => {
    const { api, evidence } = check;
    const operation = api.operation();
    const { result, effects } = await evidence.measure(async () => {
      let hasEnded = false;
      const slow = api.send(operation, { trigger: 'slow' });
      const ended = slow.then(() => (hasEnded = true));
      await wait(50);
      const same = api.send(operation, sameBytes(check));
      const otherKey = await api.send(api.operation());
      const late = await sendOtherBytes(check, operation);
      // An answer after the end of the slow request shows nothing.
      const otherBytes = hasEnded ? undefined : late;
      await ended;
      const [first, retried] = await Promise.all([slow, same]);
      const after = await api.sendUntilAnswered(operation, sameBytes(check));
      return { first, same: retried, otherKey, otherBytes, after };
    });
    const { first, same, after } = result;
    if (first.elapsedMs < 50)
      throw new CannotTell('the request of --trigger slow is answered within 50 ms');
    return {
      ...result,
      firstMs: first.elapsedMs,
      measured: { result: [first, same, after], effects },
    };
  });

/** Where a body triggers it, the retry has that body, too. */
function sameBytes({ settings }: Check): { trigger?: 'slow' } {
  const { slow } = settings.triggers;
  return slow && 'body' in slow ? { trigger: 'slow' } : {};
}

async function sendOtherBytes({ api }: Check, operation: Operation): Promise<Answer | undefined> {
  try {
    return await api.send(operation, { text: api.otherText(operation.text) });
  } catch (error) {
    if (error instanceof CannotTell) return undefined;
    throw error;
  }
}

/** The answers of some request that was refused because the first one runs. */
async function refusedMeanwhile(check: Check): Promise<Answer | undefined> {
  const isRefused = (answer: Answer): boolean => isInProgress(check.declared, answer);
  if (check.settings.triggers.slow) {
    const { same } = await meanwhile(check);
    if (isRefused(same)) return same;
  }
  const { rounds } = await race(check);
  return rounds.flatMap(({ answers }) => answers).find(isRefused);
}

async function ofRefused(check: Check, judge: (answer: Answer) => Finding): Promise<Finding> {
  const refused = await refusedMeanwhile(check);
  return refused
    ? judge(refused)
    : unknown('no request was refused as still running: --trigger slow makes one certain');
}

/** Requests that are there at the same time. */
export const simultaneous: readonly Requirement[] = [
  {
    id: 'race-once',
    sentence: 'Five requests with one key at the same moment are done once.',
    source: draft('2.6'),
    level: 'must',
    run: async (check) => {
      const { rounds } = await race(check);
      return all(...rounds.map(({ measured }) => check.evidence.ranTimes(1, measured)));
    },
  },
  {
    id: 'race-answers',
    sentence:
      'Each of five at the same moment gets the answer, or is told that the first one is still running.',
    source: draft('2.7'),
    level: 'must',
    run: async (check) => {
      const { rounds } = await race(check);
      const wrong = rounds
        .flatMap(({ answers }) => answers)
        .find((answer) => !isDone(check.declared, answer) && !isInProgress(check.declared, answer));
      return wrong ? violated(`one of them is answered ${describe(wrong)}`) : met;
    },
  },
  {
    id: 'race-after',
    sentence: 'A retry after the race gets the answer of the one that was done.',
    source: draft('2.6'),
    level: 'must',
    run: async (check) => {
      const { rounds } = await race(check);
      return all(
        ...rounds.map(({ answers, after }) => {
          const done = answers.find((answer) => isDone(check.declared, answer));
          if (!done)
            return holds(
              isDone(check.declared, after),
              `no one is told success: ${describe(after)}`,
            );
          const differs = difference(check, done, after);
          return holds(differs === undefined, differs ?? '');
        }),
      );
    },
  },
  {
    id: 'race-other-bytes',
    sentence: 'Of two requests with one key and different bytes at the same moment, one is done.',
    source: draft('2.2'),
    level: 'must',
    appliesTo: ({ mismatch }) => !mismatch.includes('replayed'),
    run: async (check) => {
      const { api, evidence, declared } = check;
      const operation = api.operation();
      const text = api.otherText(operation.text);
      const measured = await evidence.measure(() =>
        api.sendAtOnce([[operation], [operation, { text }]]),
      );
      const done = measured.result.filter((answer) => isDone(declared, answer));
      if (done.length > 1) return violated(`both are done: ${done.map(describe).join(' | ')}`);
      return done.length === 1 && measured.effects === undefined
        ? met
        : evidence.ranTimes(1, measured);
    },
  },
  {
    id: 'parallel-keys',
    sentence:
      'Five requests with five keys at the same moment are each done, each with its own answer.',
    source: draft('2.2'),
    level: 'must',
    run: async (check) => {
      const { api, evidence, declared } = check;
      const operations = Array.from({ length: atOnce }, () => api.operation());
      const { result: first, effects } = await evidence.measure(() =>
        api.sendAtOnce(operations.map((operation) => [operation])),
      );
      const failed = first.find((answer) => !isDone(declared, answer));
      if (failed) return violated(`one of them is answered ${describe(failed)}`);
      const again = await Promise.all(
        operations.map((operation) => api.sendUntilAnswered(operation)),
      );
      const differs = first
        .map((answer, at) => difference(check, answer, again[at] as Answer))
        .find((one) => one !== undefined);
      const operationsSeen = evidence.countOperations(first);
      return all(
        holds(differs === undefined, `a retry gets another answer: ${differs}`),
        holds(effects === undefined || effects === atOnce, `done ${times(effects)}, by the count`),
        holds(!evidence.canTell || operationsSeen === atOnce, 'several keys share an answer'),
      );
    },
  },
  {
    id: 'slow-once',
    sentence: 'A retry while the first request runs does not run it again.',
    source: draft('2.6'),
    level: 'must',
    needs: ['slow'],
    run: async (check) => {
      const { same, measured, first } = await meanwhile(check);
      const right =
        isInProgress(check.declared, same) || difference(check, first, same) === undefined;
      const otherDone =
        measured.effects === undefined ? undefined : measured.effects - (await othersDone(check));
      return all(
        check.evidence.ranTimes(1, { result: measured.result, effects: otherDone }),
        holds(right, `the first gets ${describe(first)}, the retry ${describe(same)}`),
      );
    },
  },
  {
    id: 'slow-answer',
    sentence: 'After “still running”, the key gets the answer of the first request.',
    source: draft('2.6'),
    level: 'must',
    needs: ['slow'],
    run: async (check) => {
      const { first, after } = await meanwhile(check);
      const differs = difference(check, first, after);
      return holds(differs === undefined, differs ?? '');
    },
  },
  {
    id: 'slow-other-key',
    sentence: 'A request with another key is done meanwhile, or right afterwards, and not refused.',
    source: draft('2.2'),
    level: 'must',
    needs: ['slow'],
    run: async (check) => {
      const { otherKey } = await meanwhile(check);
      return holds(isDone(check.declared, otherKey), `it is answered ${describe(otherKey)}`);
    },
  },
  {
    id: 'slow-other-bytes',
    sentence: 'Other bytes with the key of a request that runs are refused.',
    source: draft('2.7'),
    level: 'must',
    needs: ['slow'],
    appliesTo: ({ mismatch }) => !mismatch.includes('replayed'),
    run: async (check) => {
      const { otherBytes } = await meanwhile(check);
      if (!otherBytes)
        return unknown(
          'no other body is known (--other-body), or --trigger slow had ended before its answer',
        );
      const isRight =
        isMismatch(check.declared, otherBytes) || isInProgress(check.declared, otherBytes);
      return holds(isRight, `it is answered ${describe(otherBytes)}`);
    },
  },
  {
    id: 'in-progress-retry-after',
    sentence: '“Still running” says with Retry-After when to ask again.',
    source: 'RFC 9110 §10.2.3',
    level: 'should',
    run: (check) =>
      ofRefused(check, (answer) =>
        holds(
          /^\d+$|GMT$/.test(answer.headers['retry-after'] ?? ''),
          `${describe(answer)} has no Retry-After`,
        ),
      ),
  },
  {
    id: 'in-progress-problem',
    sentence: '“Still running” describes the problem, or links its description.',
    source: draft('2.7'),
    level: 'should',
    run: (check) => ofRefused(check, describesProblem),
  },
  {
    id: 'in-progress-status',
    sentence: '“Still running” has the declared status.',
    source: declaredBy,
    level: 'must',
    needs: ['slow'],
    run: async (check) => {
      const { same, first } = await meanwhile(check);
      const isRight =
        isInProgress(check.declared, same) || difference(check, first, same) === undefined;
      return holds(
        isRight,
        `declared: ${check.declared.inProgress.join(' or ')}; answered ${describe(same)}`,
      );
    },
  },
];

/** How many of the others were done while the slow one ran. */
async function othersDone(check: Check): Promise<number> {
  const { otherKey, otherBytes } = await meanwhile(check);
  return [otherKey, otherBytes].filter((one) => one && isDone(check.declared, one)).length;
}

/** Whether a refusal says in words what is wrong. */
export function describesProblem({ text, headers, ...rest }: Answer): Finding {
  const isJson = /json/.test(headers['content-type'] ?? '');
  const saysWhat = isJson && /"(?:title|detail|message|error|errors|code)"\s*:/.test(text);
  const isLinked = headers['link'] !== undefined;
  return holds(
    saysWhat || isLinked,
    `${describe({ text, headers, ...rest })} (neither a JSON problem nor a Link)`,
  );
}
