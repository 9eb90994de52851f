import { type Mutation, timeoutManager } from '@tanstack/react-query';
import type { LiveOperation } from '../fetch/live-operation.ts';
import type { RetryReason } from '../policy/decision.ts';
import { tellChange } from './mutation-run.ts';
import { shadow } from './shadow.ts';

/** A wait of a plain mutation, in React Query's own loop. */
export interface PlainWait {
  readonly live: LiveOperation;
  readonly error: unknown;
  /** How often it has failed. */
  readonly failureCount: number;
  /** Undefined where the app's own `retry` goes on, and the policy would not. */
  readonly reason: RetryReason | undefined;
  readonly retryAt: number;
  /** Whose wait it is, is known. */
  isClaimed: boolean;
  isOver: boolean;
  /** Ends it at once. */
  skip: (() => void) | undefined;
}

const waits = new WeakMap<Mutation, PlainWait>();
const sleeping = new Set<PlainWait>();
/** That of the failure which React Query is asking about in this turn. */
let asked: PlainWait | undefined;
let close = (): void => {};

/**
 * A plain mutation has failed, and React Query, which is told to wait so long, is about to sleep.
 *
 * It sleeps by `timeoutManager`, in the same turn: that timer is taken note of. Everything that is set
 * there is set, whoever sets it.
 */
export function beginWait(
  live: LiveOperation,
  error: unknown,
  delayMs: number,
  nowMs: number,
): void {
  close();
  const { attempt, decision } = live;
  const wait: PlainWait = {
    live,
    error,
    failureCount: attempt,
    reason: decision?.kind === 'retry' ? decision.reason : undefined,
    retryAt: nowMs + delayMs,
    isClaimed: false,
    isOver: false,
    skip: undefined,
  };
  asked = wait;
  const before = timeoutManager.setTimeout.bind(timeoutManager);
  let isOpen = true;
  const giveBack = shadow(timeoutManager, 'setTimeout', (callback, ms) => {
    // React Query sleeps by a promise's own `resolve`, which takes a value.
    if (!isOpen || ms !== delayMs || callback.length !== 1) return before(callback, ms);
    end();
    const wake = (): void => {
      wait.isOver = true;
      sleeping.delete(wait);
      callback();
    };
    const timer = before(wake, ms);
    wait.skip = () => {
      if (wait.isOver) return;
      timeoutManager.clearTimeout(timer);
      wake();
    };
    sleeping.add(wait);
    return timer;
  });
  const end = (): void => {
    isOpen = false;
    if (asked === wait) asked = undefined;
    giveBack();
  };
  close = end;
  // When it does not sleep: the app's own `retry` may end it here.
  queueMicrotask(end);
}

/** The wait of a mutation since its latest failure, also when it is over. */
export function waitOf(mutation: Mutation): PlainWait | undefined {
  const wait = waits.get(mutation);
  const { status, failureCount } = mutation.state;
  return status === 'pending' && wait?.failureCount === failureCount ? wait : undefined;
}

/** React Query tells which mutation has failed between its questions and its sleep. */
export function claimWait(mutation: Mutation): void {
  if (asked && isOf(asked, mutation)) claim(mutation, asked);
}

/** The waits that began before anybody could tell whose they are: those that can be of one only. */
export function claimEarlier(mutations: readonly Mutation[]): void {
  const free = [...sleeping].filter(({ isClaimed }) => !isClaimed);
  for (const wait of free) {
    const [mutation, another] = mutations.filter((one) => isOf(wait, one));
    if (mutation && !another && free.filter((one) => isOf(one, mutation)).length === 1)
      claim(mutation, wait);
  }
}

function isOf({ error, failureCount }: PlainWait, { state }: Mutation): boolean {
  return (
    state.status === 'pending' &&
    state.failureCount === failureCount &&
    Object.is(state.failureReason, error)
  );
}

function claim(mutation: Mutation, wait: PlainWait): void {
  wait.isClaimed = true;
  wait.live.onChange = () => tellChange(mutation);
  waits.set(mutation, wait);
}
