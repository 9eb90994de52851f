import type { Cell } from './run.tsx';

/** How a component may be worse with Steadfetch than with React Query alone. */
export type Fault =
  | 'thrown'
  | 'blank'
  | 'untrue'
  | 'stuck'
  | 'silent'
  | 'fails'
  | 'slower'
  | 'fails later'
  | 'awaits longer';

/** No user notices less. */
const toleranceMs = 500;

/**
 * What fails before React Query's first retry could begin is not retried there, as `query()` is not. With us
 * it is, and may take as long as three retries of React Query's.
 */
const firstRetryMs = 1000;
const retriesMs = 7200;

const isLater = (ours: number | undefined, alone: number | undefined): boolean =>
  alone !== undefined && (ours ?? Infinity) > alone + toleranceMs;

const failureDueMs = ({ failedMs }: Cell): number | undefined =>
  failedMs !== undefined && failedMs < firstRetryMs ? retriesMs : failedMs;

/** How long the user sees neither that something is under way, nor a failure, nor what is wanted. */
function silentMs({ screens, contentMs = Infinity, endMs }: Cell): number {
  return screens
    .map(([fromMs, text], index) => {
      const toMs = Math.min(screens[index + 1]?.[0] ?? endMs, contentMs);
      return /…|Failed/.test(text) ? 0 : Math.max(0, toMs - fromMs);
    })
    .reduce((sum, ms) => sum + ms, 0);
}

const isOver = ({ contentMs, failedMs }: Cell): boolean =>
  contentMs !== undefined || failedMs !== undefined;

/** All in which one cell is worse than React Query alone: in kind, or by more than half a second. */
export function faultsOf(ours: Cell, alone: Cell): Fault[] {
  const isNew = (name: 'thrown' | 'blankMs' | 'untrue'): boolean =>
    ours[name] !== undefined && alone[name] === undefined;
  if (isNew('thrown')) return ['thrown'];
  const isFailed = ours.contentMs === undefined && alone.contentMs !== undefined;
  const checks: Record<Exclude<Fault, 'thrown'>, boolean> = {
    blank: isNew('blankMs'),
    untrue: isNew('untrue'),
    stuck: isOver(alone) && !isOver(ours),
    silent: silentMs(ours) > silentMs(alone) + toleranceMs,
    fails: isFailed && isOver(ours),
    slower: !isFailed && isLater(ours.contentMs, alone.contentMs),
    'fails later':
      !alone.contentMs &&
      !ours.contentMs &&
      isOver(ours) &&
      isLater(ours.failedMs, failureDueMs(alone)),
    'awaits longer': isLater(ours.awaitedMs, alone.awaitedMs),
  };
  return (Object.keys(checks) as (keyof typeof checks)[]).filter((name) => checks[name]);
}
