import type { Clock, Random } from '../policy/clock.ts';
import { between } from './between.ts';
import { createCanaryGaps } from './canary-gaps.ts';
import type { Demand } from './demand.ts';
import { createStore, type Readable } from './store.ts';
import type { TripRule } from './trip-rule.ts';

/** Whether an origin is taken for down. */
interface CircuitState {
  /** `half-open`: a canary is under way, or its time has come. */
  readonly state: 'closed' | 'open' | 'half-open';
  /** The earliest time of the next canary, in epoch milliseconds; undefined while closed. */
  readonly probeAt: number | undefined;
}

/** Trips open on an outage, and closes on a canary that comes back. */
export interface Circuit extends Readable<CircuitState> {
  readonly isClosed: () => boolean;
  /** An attempt that was no canary has shown an outage. */
  readonly fail: (weight: number) => void;
  /** An attempt that was no canary was answered. */
  readonly succeed: () => void;
  /** Something new was asked for: it draws the next canary nearer. */
  readonly ask: () => void;
  /** A canary is under way. */
  readonly isProbing: () => boolean;
  /** When a canary goes out by itself, if anything is held. */
  readonly timerAt: () => number;
  /** Whether something new may go out, as the canary. */
  readonly mayProbe: () => boolean;
  readonly startProbe: () => void;
  /** The canary died, came back, or was called off and showed nothing. */
  readonly endProbe: (result: 'failed' | 'succeeded' | 'unknown', weight: number) => void;
  /** Another tab has found it down, and has made these times of its canary. */
  readonly follow: (nextProbeAt: number, nextTimerAt: number) => void;
  /** Opens it whatever the rule says: what seemed to be over is not. */
  readonly open: (weight: number) => void;
}

/** A canary that has not come back by then has taught nothing, and another one goes. */
export const longestProbeMs = 35_000;

/** From one canary to the next that something new may be. */
const leastAskedMs = 2500;
const mostAskedMs = 3500;

/**
 * A circuit that probes as much as its tab asks, and no more.
 *
 * The next new request is the canary, 2.5 to 3.5 s after the trip or the last one at the least;
 * what comes sooner draws the next canary to that time. Where nothing new comes, one goes out 5 to
 * 10 s after the trip (4 to 7 s in a tab that asks rarely). A timer alone cannot be both quiet and
 * prompt, and what is not tied to demand, sent from many slow tabs, keeps a server down.
 */
export function createCircuit(
  clock: Clock,
  random: Random,
  rule: TripRule,
  demand: Demand,
): Circuit {
  const closed: CircuitState = { state: 'closed', probeAt: undefined };
  const store = createStore(closed);
  let probeAt = 0;
  let timerAt = 0;
  /** When these were set. */
  let setAt = 0;
  let isOut = false;
  let probedAt = 0;
  let due: CircuitState | undefined;
  const gaps = createCanaryGaps(random, demand);

  /** A clock that was set back would prolong whatever was set by it. */
  const isSetBack = (): boolean => clock.now() < setAt;
  const isProbing = (): boolean => isOut && !isSetBack() && clock.now() - probedAt < longestProbeMs;
  const tell = (): void => {
    setAt = clock.now();
    store.set({ state: isProbing() ? 'half-open' : 'open', probeAt });
  };
  const isClosed = (): boolean => store.getState().state === 'closed';
  const close = (): void => {
    isOut = false;
    rule.clear();
    store.set(closed);
  };
  const open = (weight: number): void => {
    const now = clock.now();
    rule.clear();
    gaps.begin(now);
    timerAt = gaps.nextAt(now, weight);
    // Where attempts fail now and then anyway, it is hardly an outage.
    if (rule.usualRate() > 0.04) timerAt = Math.min(timerAt, now + between(random, 2000, 4000));
    probeAt = Math.min(timerAt, now + between(random, leastAskedMs, mostAskedMs));
    isOut = false;
    tell();
  };

  return {
    getState() {
      const state = store.getState();
      if (state.state !== 'open' || clock.now() < probeAt) return state;
      // Not told: a component reads it while it renders.
      if (due?.probeAt !== probeAt) due = { state: 'half-open', probeAt };
      return due;
    },
    subscribe: store.subscribe,
    isClosed,
    fail(weight) {
      if (isClosed() && rule.fail(weight)) open(weight);
    },
    succeed() {
      if (isClosed()) rule.succeed();
    },
    ask() {
      timerAt = Math.min(timerAt, probeAt);
    },
    isProbing,
    timerAt() {
      if (isProbing()) return probedAt + longestProbeMs;
      return isSetBack() ? 0 : timerAt;
    },
    mayProbe: () => !isProbing() && (clock.now() >= probeAt || isSetBack()),
    startProbe() {
      isOut = true;
      probedAt = clock.now();
      // One that is given up is followed by the next.
      timerAt = probedAt + longestProbeMs;
      tell();
    },
    endProbe(result, weight) {
      if (result === 'succeeded') return close();
      isOut = false;
      const now = clock.now();
      // Also after one that was called off: it has cost the server the same. Counted from its start: a
      // server that hangs has been left alone for long enough when its canary is over.
      probeAt = Math.max(now, probedAt + between(random, leastAskedMs, mostAskedMs));
      timerAt = result === 'failed' ? Math.max(probeAt, gaps.nextAt(now, weight)) : probeAt;
      tell();
    },
    follow(nextProbeAt, nextTimerAt) {
      if (isClosed()) gaps.begin(clock.now());
      if (isProbing()) return;
      // Who takes over goes on where they are. The word of a canary that goes out has no first time.
      if (nextProbeAt > 0 && nextProbeAt < nextTimerAt) gaps.skip();
      rule.clear();
      probeAt = nextProbeAt;
      timerAt = nextTimerAt;
      tell();
    },
    open,
  };
}
