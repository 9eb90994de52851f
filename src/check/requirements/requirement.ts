import type { Api, Operation } from '../api.ts';
import { describe } from '../api.ts';
import { type Dialect, isDone } from '../dialects.ts';
import type { Evidence, Measured } from '../evidence.ts';
import { CannotTell, type Finding, holds, met, unknown, violated, times } from '../finding.ts';
import type { Settings, Trigger } from '../settings.ts';
import type { Answer } from '../wire.ts';

/** The tools of a requirement. */
export interface Check {
  readonly settings: Settings;
  readonly declared: Dialect;
  readonly api: Api;
  readonly evidence: Evidence;
  /** Runs something once, however many requirements look at it. */
  readonly once: <T>(name: string, work: () => Promise<T>) => Promise<T>;
}

/** An option that a requirement needs; it is skipped without. */
export type Need =
  | 'second-user'
  | 'renewed'
  | 'other-url'
  | 'other-method'
  | 'origin'
  | 'credentials'
  | 'lifetime'
  | 'count'
  | 'restart'
  | 'json'
  | Trigger;

/** One thing that an API that takes keys must do. */
export interface Requirement {
  readonly id: string;
  readonly sentence: string;
  readonly source: string;
  /** `must`: without it something is done twice, not at all, or shown to others. */
  readonly level: 'must' | 'should';
  readonly needs?: readonly Need[];
  /** Which declarations it concerns. @default all */
  readonly appliesTo?: (declared: Dialect) => boolean;
  readonly run: (check: Check) => Promise<Finding>;
}

export const draft = (section: string): string =>
  `draft-ietf-httpapi-idempotency-key-header-07 §${section}`;
export const declaredBy = 'what the API declares (profile)';

/** @throws CannotTell unless the operation was done. */
export function requireDone({ declared }: Check, answer: Answer, what: string): void {
  if (!isDone(declared, answer)) throw new CannotTell(`${what} is answered ${describe(answer)}`);
}

/** An operation that has been done, with its answer. */
export interface Done {
  readonly operation: Operation;
  readonly first: Answer;
}

export async function perform(check: Check): Promise<Done> {
  const operation = check.api.operation();
  const first = await check.api.send(operation);
  requireDone(check, first, 'a first request');
  return { operation, first };
}

export interface Replayed extends Done {
  readonly second: Answer;
  readonly third: Answer;
  readonly measured: Measured<readonly Answer[]>;
}

/** One operation, sent three times one after the other. */
export const replay = (check: Check): Promise<Replayed> =>
  check.once('replay', async () => {
    const { api, evidence } = check;
    const operation = api.operation();
    const measured = await evidence.measure(async () => {
      const first = await api.send(operation);
      const second = await api.sendUntilAnswered(operation);
      return [first, second, await api.sendUntilAnswered(operation)] as const;
    });
    const [first, second, third] = measured.result;
    requireDone(check, first, 'a first request');
    return { operation, first, second, third, measured };
  });

/** Why a retry has not got the answer of its operation, whatever its form; undefined where it has. */
export function difference(
  { evidence, declared }: Check,
  first: Answer,
  second: Answer,
): string | undefined {
  const isSame =
    isDone(declared, first) && isDone(declared, second)
      ? evidence.isSameOperation(first, second)
      : first.status === second.status && evidence.content(first) === evidence.content(second);
  return isSame ? undefined : `first ${describe(first)}, then ${describe(second)}`;
}

/** Whether two answers are alike to the byte. */
export const isSameContent = ({ evidence }: Check, first: Answer, second: Answer): boolean =>
  evidence.content(first) === evidence.content(second);

/**
 * Whether a request with a known key, from elsewhere, has not got the answer of the first one: it is refused, or is an
 * operation of its own.
 */
export function isOwn(
  { evidence, declared }: Check,
  first: Answer,
  { result: other, effects }: Measured<Answer>,
): Finding {
  if (!isDone(declared, other)) return met;
  const seen = `it gets the answer of the first one: ${describe(other)}`;
  const marker = declared.replayHeader ?? 'idempotent-replayed';
  if (other.headers[marker] === 'true') return violated(seen);
  if (evidence.canTell) return holds(!evidence.isSameOperation(first, other), seen);
  return effects === undefined
    ? unknown('the answers of two operations are alike')
    : holds(effects === 1, `${describe(other)}, and done ${times(effects)}, by the count`);
}
