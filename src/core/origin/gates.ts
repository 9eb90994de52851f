import type { Pause, Place } from './ask.ts';
import { isWithin } from './wait-queue.ts';
import type { Health } from './health/endpoint-health.ts';
import type { Network, Origin } from './origin.ts';

const isOnline = ({ network }: Origin, { mayBeOffline }: Place): boolean =>
  !network.isOffline() || !!mayBeOffline;

/** Whether fewer than `maxInFlight` attempts are in flight. */
const hasSlot = ({ inFlight, maxInFlight }: Origin): boolean => inFlight.size < maxInFlight;

/** Whether neither the network nor a limit holds it back. */
export const isAble = (origin: Origin, place: Place): boolean =>
  isOnline(origin, place) && origin.limits.until(place) === -Infinity;

/** Whether it waits at most for a slot or its turn. */
export const isUp = (origin: Origin, place: Place): boolean =>
  isAble(origin, place) && !origin.health.downFor(place);

/** Whether it may be sent at once. During slow start a retry may not: attempts that have waited for longer go first. */
export const mayEnter = (origin: Origin, place: Place): boolean =>
  isUp(origin, place) &&
  hasSlot(origin) &&
  (place.isNew !== false || !origin.slowStart.isUnderWay(place.endpoint));

/** Whether it waits at most for its turn, which comes soon: not for the jitter after the end of a pause. */
export const isNext = (origin: Origin, place: Place): boolean =>
  isOnline(origin, place) &&
  origin.limits.leastUntil(place) === -Infinity &&
  !origin.health.downFor(place) &&
  hasSlot(origin);

/**
 * When what holds a waiting attempt back ends, so that it is sent, or something else does: it is sent as the probe of
 * what is down, as a first sending that passes the outage, or else in its turn. `Infinity`: an event ends it.
 */
export function turnAt(origin: Origin, place: Place): number {
  if (!isOnline(origin, place)) return Infinity;
  const { health, limits, slowStart } = origin;
  const limitedUntil = limits.until(place);
  if (limitedUntil > -Infinity) return limitedUntil;
  const down = health.downFor(place);
  if (down) return Math.min(down.probeAt ?? Infinity, health.passesAt(place));
  return hasSlot(origin) ? slowStart.nextAt(place.endpoint) : Infinity;
}

/**
 * The next probe, as it is shown: no time while a probe is in flight, or if no request waits for one. `counts`
 * tells which waiting attempts may be the probe.
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

/** Why an attempt waits, and until when: a time at which something is sent, or none. */
export function whyPaused(origin: Origin, place: Place): Pause {
  const { health, limits, network, slowStart } = origin;
  // First, because the origin is not at fault if the device is offline.
  if (!isOnline(origin, place)) return { reason: 'offline', retryAt: network.retryAt() };
  const down = health.downFor(place);
  const limitedUntil = limits.until(place);
  if (limitedUntil === -Infinity) {
    if (!down) return { reason: 'queued', retryAt: undefined };
    const reason = isOffline(network, down) ? 'offline' : 'server-down';
    return { reason, ...whenProbed(origin, down) };
  }
  if (down) {
    // The probe waits for both.
    const { retryAt } = whenProbed(origin, down, () => true);
    return { reason: 'rate-limited', retryAt: retryAt && Math.max(limitedUntil, retryAt) };
  }
  // During slow start the order is not known.
  const isShown = !slowStart.isUnderWay(place.endpoint);
  return {
    reason: 'rate-limited',
    retryAt: isShown ? limits.pausedUntil([place.limitScope]) : undefined,
  };
}

/** Whether the cause of an outage may be that the device, not the origin, has no network. */
export const isOffline = (network: Network, down: Health): boolean =>
  !down.isAnswered && network.isDoubtful();
