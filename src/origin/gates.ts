import type { Pause, Place } from './ask.ts';
import { isWithin } from './wait-queue.ts';
import type { Health } from './health/endpoint-health.ts';
import type { Network, Origin } from './origin.ts';

/** From when it lets an attempt pass: `-Infinity`: now. `Infinity`: that is not known, and an event opens it. */
type Gate = (origin: Origin, place: Place) => number;

const open = -Infinity;
const closed = Infinity;

/** Closed while the device is offline. */
const connectivity: Gate = ({ network }, { mayBeOffline }) =>
  network.isOffline() && !mayBeOffline ? closed : open;

/** Closed until the end of a known window, or until the next turn at the pace that was learned. */
const rateLimit: Gate = ({ limits }, { limitScope }) => limits.until(limitScope);

/** The same without what is added so that not all go at once. */
const toldLimit: Gate = ({ limits }, { limitScope }) => limits.leastUntil(limitScope);

/** Closed while the endpoint or its origin is down. */
const health: Gate = (origin, place) => (origin.health.downFor(place) ? closed : open);

/** Opens for one of those who wait for what is down: seldom in a hidden page, for which no user waits. */
const probe =
  ({ probeAt = closed }: Health): Gate =>
  () =>
    probeAt;

/** Opens for one after the other of those who waited for what was down. */
const turn: Gate = (origin, { endpoint }) => origin.slowStart.nextAt(endpoint);

/** Closed for a retry while those go one after the other who have waited for longer. */
const retry: Gate = ({ slowStart }, { isNew = true, endpoint }) =>
  !isNew && slowStart.isUnderWay(endpoint) ? closed : open;

/** Closed while as many attempts are in flight as there may be. */
const concurrency: Gate = ({ inFlight, maxInFlight }) =>
  inFlight.size < maxInFlight ? open : closed;

/** The gates of those who wait: they go one after the other and, where something is down, as its probe. */
const gatesOf = (down: Health | undefined): readonly Gate[] =>
  down ? [connectivity, rateLimit, probe(down)] : [connectivity, rateLimit, turn, concurrency];

/**
 * When one of those who wait may go, or is to be asked again: from then the first of its gates that is closed is
 * open. `-Infinity`: now.
 */
export function turnAt(origin: Origin, place: Place, now: number): number {
  for (const gate of gatesOf(origin.health.downFor(place))) {
    const at = gate(origin, place);
    if (at > now) return at;
  }
  return open;
}

/** Whether an attempt passes some gates now. */
type Passes = (origin: Origin, place: Place) => boolean;

const passing =
  (...gates: readonly Gate[]): Passes =>
  (origin, place) =>
    gates.every((gate) => gate(origin, place) === open);

/** It may go at once, without a turn. */
export const mayEnter: Passes = passing(connectivity, rateLimit, health, retry, concurrency);
/** Neither the network nor a limit keeps it back. */
export const isAble: Passes = passing(connectivity, rateLimit);
/** Nothing but a place, or a turn, is waited for. */
export const isUp: Passes = passing(connectivity, rateLimit, health);
/** Nothing but a turn is waited for, which comes soon. */
export const isNext: Passes = passing(connectivity, toldLimit, health, concurrency);

/**
 * What is shown of the next probe: nothing while one is under way, or nothing waits for it. `counts`: which of
 * those that wait may be it.
 */
export function whenProbed(
  origin: Origin,
  { scope, probes, probeAt }: Health,
  counts = (place: Place): boolean => isAble(origin, place),
): Pick<Pause, 'retryAt' | 'probedBy'> {
  if (origin.leader?.isElsewhere(scope)) return { retryAt: undefined, probedBy: 'another-tab' };
  const isDue =
    !probes.isProbing() &&
    origin.queue.groups().some((group) => isWithin(scope, group) && counts(group.shared));
  return { retryAt: isDue ? probeAt : undefined };
}

/** Why something waits there, and until when: a time at which something is sent, or none. */
export function whyPaused(origin: Origin, place: Place): Pause {
  const { network, limits, slowStart } = origin;
  const { endpoint, limitScope } = place;
  // The origin itself is not to blame for a device that is offline.
  if (network.isOffline()) return { reason: 'offline', retryAt: network.retryAt() };
  const down = origin.health.downFor(place);
  const limitedUntil = limits.until(limitScope);
  if (limitedUntil > open && down) {
    // It is probed after both.
    const { retryAt } = whenProbed(origin, down, () => true);
    return { reason: 'rate-limited', retryAt: retryAt && Math.max(limitedUntil, retryAt) };
  }
  if (limitedUntil > open) {
    // During slow start the order is not known.
    const isShown = !slowStart.isUnderWay(endpoint);
    return {
      reason: 'rate-limited',
      retryAt: isShown ? limits.pausedUntil([limitScope]) : undefined,
    };
  }
  if (!down) return { reason: 'queued', retryAt: undefined };
  const reason = isOffline(network, down) ? 'offline' : 'server-down';
  return { reason, ...whenProbed(origin, down) };
}

/** It is the device that has no network, as far as is known, and not the origin that is down. */
export const isOffline = (network: Network, down: Health): boolean =>
  !down.isAnswered && network.isDoubtful();
