import type { Clock, Random } from '../policy/clock.ts';
import { createAlarm } from './alarm.ts';
import { between } from './between.ts';
import type { Circuit } from './circuit.ts';
import type { Evidence } from './evidence.ts';
import type { Following } from './following.ts';
import type { Limit } from './limit.ts';
import type { Network } from './network.ts';
import type { Outlook } from './outlook.ts';
import type { Release } from './release.ts';
import type { SlotOptions, Slots } from './slots.ts';
import type { TripRule } from './trip-rule.ts';
import { extend, isOver, remove, tell, type Waiters } from './waiters.ts';
import { type Ask, canaryOf, nextOf, type Turn, type Waiter } from './waiting.ts';

/** Gives those who wait at a gate their turn, one after the other, or ends their wait. */
export interface Turns {
  /** Waits for a turn. `undefined` when no place to wait is left. */
  readonly wait: (ask: Ask, take: (turn: Turn) => void) => Waiter | undefined;
  /** No longer wanted. */
  readonly leave: (waiter: Waiter) => void;
  /** Goes now, whatever is known of the origin. */
  readonly force: (waiter: Waiter) => void;
  /** Asked for again: its wait starts anew. */
  readonly renew: (waiter: Waiter) => void;
  /** The origin was found to be well then. */
  readonly recover: (upAt: number) => void;
  /** Lets go whose turn it is, and sets the one timer for what comes next. */
  readonly pump: () => void;
  /** Who waits goes on as before; what is only shown is not kept up to date any more. */
  readonly dispose: () => void;
}

/** What was asked for this shortly before a recovery is as good as new, and goes at once. */
const freshMs = 2000;

/** All that a turn depends on. */
interface Parts {
  readonly clock: Clock;
  readonly random: Random;
  readonly network: Network;
  readonly slotOptions: SlotOptions;
  readonly circuit: Circuit;
  readonly rule: TripRule;
  readonly limit: Limit;
  readonly slots: Slots;
  readonly release: Release;
  readonly evidence: Evidence;
  readonly following: Following;
  readonly outlook: Outlook;
  readonly waiters: Waiters;
}

export function createTurns({
  clock,
  random,
  network: { isOffline, heart, subscribe },
  slotOptions: { maxQueued = Infinity, queueTimeoutMs = Infinity },
  circuit,
  rule,
  limit,
  slots,
  release,
  evidence,
  following,
  outlook,
  waiters,
}: Parts): Turns {
  /** Since when somebody has waited all the time; and of that, what the machine was asleep. */
  let heldSince = 0;
  let asleepForMs = 0;
  let wasOffline = isOffline();
  let isDisposed = false;

  const go = (waiter: Waiter, turn: Turn): void => {
    // It may have left while others were told.
    if (waiter.isGone) return;
    remove(waiters, waiter);
    if (turn !== 'expired') {
      slots.take();
      limit.spend();
    }
    if (turn === 'canary') {
      circuit.startProbe();
      following.sayDown();
    }
    waiter.take(turn);
  };
  const startRelease = (usualFailureRate: number, firstGap: number): void => {
    limit.resume();
    const heldForMs = clock.now() - heldSince - asleepForMs;
    release.recover(waiters.list.length, heldForMs, usualFailureRate, firstGap);
  };
  const recover = (upAt: number): void => {
    startRelease(limit.isPaused() ? 0 : rule.usualRate(), between(random, 0, 1));
    evidence.recovered();
    following.recovered();
    for (const waiter of waiters.list) {
      if (!outlook.isOpen()) break;
      if (upAt - waiter.askedAt < freshMs && !waiter.ask.isResumed) go(waiter, 'go');
    }
  };

  /** At the end of its patience it need not wait for its turn, where answers are as fast as usual. */
  const end = (waiter: Waiter): void => {
    const mayGo = release.isUnderWay() && outlook.isOpen() && release.pace.isGood();
    go(waiter, mayGo ? 'go' : 'expired');
  };
  /** While the device is offline, those that need not leave it. */
  const able = (): readonly Waiter[] =>
    isOffline() ? waiters.list.filter(({ ask }) => ask.mayBeOffline) : waiters.list;
  const sendCanary = (now: number): void => {
    const canary = canaryOf(able(), evidence.failedProbes, now);
    if (canary) go(canary, 'canary');
  };
  /** Lets one go whose turn it is; else says when to look again. */
  const letGo = (now: number): number | undefined => {
    const { releaseAt } = limit.getState();
    if (!circuit.isClosed()) {
      const at = Math.max(following.turnAt(), releaseAt);
      if (at > now) return at;
      sendCanary(now);
      return circuit.timerAt() === Infinity ? Infinity : undefined;
    }
    if (now < releaseAt) return releaseAt;
    if (limit.isPaused() && heldSince < releaseAt) {
      startRelease(0, waiters.list.length > 1 ? between(random, 0, 1) : 0);
      return undefined;
    }
    if (!slots.isFree()) return Infinity;
    const isUnderWay = release.isUnderWay();
    if (isUnderWay && now < release.nextAt()) return release.nextAt();
    // In a queue for a place, first come, first served.
    const next = nextOf(able(), isUnderWay ? now : Infinity);
    if (!next) return Infinity;
    go(next, 'go');
    release.advance();
    return undefined;
  };
  const pump = (): void => {
    heart.look();
    const now = clock.now();
    for (const waiter of waiters.list) if (isOver(waiter, now, outlook.isQueue)) end(waiter);
    const upAt = following.foundUpAt();
    if (upAt !== undefined) {
      circuit.endProbe('succeeded', 0);
      recover(upAt);
    }
    let due: number | undefined;
    while (due === undefined && able().length > 0) due = letGo(now);
    const waiting = waiters.list.length;
    if (waiting === 0) {
      release.stop();
      limit.rest();
    }
    let next = Math.min(due ?? Infinity, limit.easesAt(), following.elect(waiting));
    for (const { expiresAt } of waiters.list) next = Math.min(next, expiresAt);
    setAlarm(isDisposed && waiting === 0 ? Infinity : next);
    beat(waiting > 0 ? Infinity : 0);
    if (outlook.update(waiting)) tell(waiters.list, outlook.whyHeld());
  };
  const setAlarm = createAlarm(clock, pump);
  // Nobody waits in their sleep.
  const beat = heart.join((asleepMs) => {
    asleepForMs += asleepMs;
    for (const waiter of waiters.list) waiter.expiresAt += asleepMs;
    pump();
  });

  /** What was held while the device was offline comes back bit by bit. */
  subscribe(() => {
    const isBack = wasOffline && !isOffline();
    wasOffline = isOffline();
    if (waiters.list.length === 0) return;
    if (isBack && circuit.isClosed() && !limit.isPaused()) release.spread(between(random, 0, 1));
    else if (isOffline()) release.stop();
    pump();
    tell(waiters.list, outlook.whyHeld());
  });

  return {
    wait(ask, take) {
      const now = clock.now();
      const isQueued = outlook.isQueue();
      if (isQueued && waiters.list.length >= maxQueued) return undefined;
      // It would wait in vain.
      if (limit.getState().until > now + ask.holdMs) return undefined;
      const ms = isQueued ? Math.min(ask.holdMs, queueTimeoutMs) : ask.holdMs;
      const waiter: Waiter = { ask, askedAt: now, expiresAt: now + ms, take };
      if (waiters.list.length === 0) [heldSince, asleepForMs] = [now, 0];
      waiters.list = [...waiters.list, waiter];
      if (!circuit.isClosed() && (ask.isNew || ask.priority === 'user-blocking')) {
        following.ask();
        // It draws the canary, and is it where nobody else is better.
        const mayGo = following.leads() && circuit.mayProbe() && !limit.isHolding() && !isOffline();
        if (mayGo) sendCanary(now);
      }
      pump();
      tell([waiter], outlook.whyHeld());
      return waiter;
    },
    leave(waiter) {
      remove(waiters, waiter);
      pump();
    },
    force(waiter) {
      go(waiter, circuit.isClosed() || circuit.isProbing() ? 'go' : 'canary');
      pump();
    },
    renew(waiter) {
      extend(waiter, clock.now(), waiter.ask.holdMs);
      pump();
    },
    recover,
    pump,
    dispose() {
      isDisposed = true;
      pump();
    },
  };
}
