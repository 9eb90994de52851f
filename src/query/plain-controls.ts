import { focusManager, type Mutation, onlineManager } from '@tanstack/react-query';
import { reportOf } from '../fetch/failure-report.ts';
import type { LiveOperation } from '../fetch/live-operation.ts';
import { endCancelled } from './end-cancelled.ts';
import { type EndedNext, endNext } from './end-next.ts';
import { notSent } from './mutation-controls.ts';
import { tellChange } from './mutation-run.ts';
import { waitOf } from './plain-wait.ts';
import type { Instance } from './registry.ts';
import { shadow } from './shadow.ts';

/** What a plain mutation that was cancelled ends in. */
interface PlainEnding {
  readonly live: LiveOperation;
  readonly error: unknown;
  readonly attempt: number;
  readonly reason: 'cancelled';
  readonly retryAt: undefined;
}

const endings = new WeakMap<Mutation, PlainEnding>();

/** What a plain mutation ends in, or has ended in, because it was cancelled. */
export function endingOf(mutation: Mutation): PlainEnding | undefined {
  return endings.get(mutation);
}

/** Ends the wait of a plain mutation, or its hold at the gate of its origin. */
export function retryPlainNow(mutation: Mutation): void {
  const wait = waitOf(mutation);
  if (!wait || endings.has(mutation)) return;
  for (const { go } of wait.live.holds) go();
  if (!wait.skip || wait.isOver) return;
  wait.live.isUrged = true;
  wait.skip();
  tellChange(mutation);
}

/** Ends a plain mutation in its wait, or while React Query has it paused. */
export function cancelPlain(mutation: Mutation, { clock, operations }: Instance): void {
  const { status, failureCount, failureReason } = mutation.state;
  if (status !== 'pending' || endings.has(mutation)) return;
  const wait = waitOf(mutation);
  const live = wait?.live ?? operations.begin('mutation', { attempt: failureCount });
  const own = failureCount === 0 ? notSent(live, false) : undefined;
  const error: unknown = own ?? failureReason;
  const next = endNext(mutation, error);
  if (wait?.skip && !wait.isOver) {
    wait.skip();
    // Offline, and in a hidden tab, React Query has paused it then.
    queueMicrotask(() => void letGo(mutation, next));
  } else if (!letGo(mutation, next)) return next.undo();
  const attempt = failureCount;
  endings.set(mutation, { live, error, attempt, reason: 'cancelled', retryAt: undefined });
  const report = own
    ? { failure: own.outcome, method: own.operation.method }
    : reportOf(error, clock.now());
  endCancelled(operations, live, error, report);
  // Another mutation that fails with the same error is not cancelled.
  live.attempt = 0;
  tellChange(mutation);
}

/**
 * Takes a paused mutation out of its pause, whatever the reason, to end at once. False when it is not
 * paused: what is under way cannot be taken back.
 */
function letGo(mutation: Mutation, next: EndedNext): boolean {
  if (!mutation.state.isPaused) return false;
  const giveBack = [
    shadow(focusManager, 'isFocused', () => true),
    shadow(onlineManager, 'isOnline', () => true),
  ];
  next.isFree = true;
  next.wasAsked = false;
  mutation.continue().catch(() => {});
  next.isFree = false;
  for (const end of giveBack) end();
  return next.wasAsked;
}
