import {
  type ApiProfile,
  createSteadfetch,
  type SteadfetchConfig,
  type SteadyFetch,
  type SteadyInit,
} from 'steadfetch';
import { submissionExtension as submissionCode } from '../../../src/core/fetch/keys.ts';
import {
  type FixedBody,
  Submission,
  type SubmissionFacts,
} from '../../../src/core/operation/parts/submission.ts';
import type { Operation } from '../../../src/core/operation/operation.ts';
import { instanceOfSteady } from '../../../src/core/react-query/instance.ts';
import { noOrigin } from '../../setup/no-origin.ts';

/** What a submission does in one attempt. */
type Run = (fetch: SteadyFetch, attempt: number) => Promise<unknown>;

interface Submitted {
  /** What the last attempt ended in. */
  readonly error: unknown;
  readonly value: unknown;
  readonly attempts: number;
  readonly operation: Operation;
}

interface Facts extends SubmissionFacts {
  /** Where the bytes of its bodies are not stored. */
  readonly digest?: (body: FixedBody) => Promise<string>;
}

class TestSubmission extends Submission {
  readonly #digest: Facts['digest'];
  constructor({ digest, ...facts }: Facts) {
    super(facts);
    this.#digest = digest;
  }
  override digest(body: FixedBody): Promise<string> | undefined {
    return this.#digest?.(body);
  }
}

/** Operations with a submission, each with a loop that waits for nothing. */
export interface Submitter {
  readonly fetch: SteadyFetch;
  /** One submission. Its attempts are as many as the policy wants, or `attempts`, whatever it wants. */
  readonly submit: (run: Run, submission?: Partial<Facts>, attempts?: number) => Promise<Submitted>;
}

/** So that the operation does not end, and with it what is known of its steps. */
const endless = { maxRetries: Infinity, deadlineMs: Infinity };

export const submissionKey = '8e03978e-40d5-43dd-bc93-6894a57f9324';

export function createSubmitter(
  fetch: typeof globalThis.fetch,
  apis: readonly ApiProfile[],
  config: SteadfetchConfig = {},
): Submitter {
  const steady = createSteadfetch({ ...noOrigin, ...config, fetch, apis });
  const { operations, signals, clock } = instanceOfSteady(steady, 'createSubmitter');
  return {
    fetch: steady.fetch,
    async submit(run, submission, attempts) {
      const operation = operations.begin('mutation', {
        submissionCode,
        submission: new TestSubmission({
          key: submissionKey,
          createdAt: clock.now(),
          ...submission,
        }),
        ...(attempts !== undefined && { idempotent: true, policy: endless }),
      });
      const bound: SteadyFetch = (input, init: SteadyInit = {}) => {
        const { signal } = init.signal ? { signal: init.signal } : new AbortController();
        signals.set(signal, operation);
        return steady.fetch(input, { ...init, signal });
      };
      for (; ; operation.next()) {
        const { attempt } = operation;
        const isLast = attempts === attempt;
        try {
          const value = await run(bound, attempt);
          if (attempts === undefined || isLast) {
            operation.end('succeeded');
            return { value, error: undefined, attempts: attempt, operation };
          }
        } catch (error) {
          const { kind } = operation.fail(error, clock.now());
          if (attempts === undefined ? kind === 'stop' : isLast) {
            return { value: undefined, error, attempts: attempt, operation };
          }
        }
      }
    },
  };
}
