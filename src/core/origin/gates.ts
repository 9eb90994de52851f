import type { Pause, Place } from './ask.ts';
import { isWithin } from './wait-queue.ts';
import type { Health } from './health/endpoint-health.ts';
import type { Network, Origin } from './origin.ts';

/** Returns when it opens for an attempt. `-Infinity`: it is open. `Infinity`: an event opens it, at an unknown time. */
type Gate = (origin: Origin, place: Place) => number;

const open = -Infinity;
const closed = Infinity;

/** Closed while the device is offline. */
const connectivity: Gate = ({ network }, { mayBeOffline }) =>
  network.isOffline() && !mayBeOffline ? closed : open;

/** Closed until the end of a known window, or until the next request at the learned pace is due. */
const rateLimit: Gate = ({ limits }, { limitScope }) => limits.until(limitScope);

/** The same without the jitter that spreads requests after the end of a pause. */
const leastLimit: Gate = ({ limits }, { limitScope }) => limits.leastUntil(limitScope);

/** Closed while the endpoint or its origin is down. */
const health: Gate = (origin, place) => (origin.health.downFor(place) ? closed : open);

/** Opens for one waiting attempt, as the probe: rarely in a hidden page, where no user waits. Or for a first sending. */
const probe =
  ({ outage }: Health): Gate =>
  (origin, place) =>
    Math.min(outage?.probeAt ?? closed, origin.health.passesAt(place));

/** Opens for one attempt after the other during slow start. */
const turn: Gate = (origin, { endpoint }) => origin.slowStart.nextAt(endpoint);

/** Closed for retries during slow start: attempts that have waited for longer go first. */
const retry: Gate = ({ slowStart }, { isNew = true, endpoint }) =>
  !isNew && slowStart.isUnderWay(endpoint) ? closed : open;

/** Closed while `maxInFlight` attempts are in flight. */
const concurrency: Gate = ({ inFlight, maxInFlight }) =>
  inFlight.size < maxInFlight ? open : closed;

/** The gates of a waiting attempt: it is sent as the probe of what is down, or else in its turn. */
const gatesOf = (down: Health | undefined): readonly Gate[] =>
  down ? [connectivity, rateLimit, probe(down)] : [connectivity, rateLimit, turn, concurrency];

/** When the first closed gate of a waiting attempt opens, so that all are checked again; `-Infinity` if all are open. */
export function turnAt(origin: Origin, place: Place, now: number): number {
  for (const gate of gatesOf(origin.health.downFor(place))) {
    const at = gate(origin, place);
    if (at > now) return at;
  }
  return open;
}

/** Whether an attempt passes certain gates now. */
type Passes = (origin: Origin, place: Place) => boolean;

const passing =
  (...gates: readonly Gate[]): Passes =>
  (origin, place) => {
    for (const gate of gates) if (gate(origin, place) !== open) return false;
    return true;
  };

/** Whether it may be sent at once, without waiting for its turn. */
export const mayEnter: Passes = passing(connectivity, rateLimit, health, retry, concurrency);
/** Whether neither the network nor a limit holds it back. */
export const isAble: Passes = passing(connectivity, rateLimit);
/** Whether it waits at most for a slot or its turn. */
export const isUp: Passes = passing(connectivity, rateLimit, health);
/** Whether it waits at most for its turn, which comes soon. */
export const isNext: Passes = passing(connectivity, leastLimit, health, concurrency);

/**
 * The next probe, as it is shown: no time while a probe is in flight, or if no request waits for one. `counts`
 * tells which waiting attempts may be the probe.
 */
export function whenProbed(
  origin: Origin,
  { scope, probes, outage }: Health,
  counts = (place: Place): boolean => isAble(origin, place),
): Pick<Pause, 'retryAt' | 'probedBy'> {
  if (origin.leader?.isElsewhere(scope)) return { retryAt: undefined, probedBy: 'another-tab' };
  const isDue =
    !probes.isProbing() &&
    origin.queue.groups().some((group) => isWithin(scope, group) && counts(group.shared));
  return { retryAt: isDue ? outage?.probeAt : undefined };
}

/** Why an attempt waits, and until when: a time at which something is sent, or none. */
export function whyPaused(origin: Origin, place: Place): Pause {
  const { network, limits, slowStart } = origin;
  const { endpoint, limitScope } = place;
  // First, because the origin is not at fault if the device is offline.
  if (connectivity(origin, place) > open) return { reason: 'offline', retryAt: network.retryAt() };
  const down = origin.health.downFor(place);
  const limitedUntil = limits.until(limitScope);
  if (limitedUntil > open && down) {
    // The probe waits for both.
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

/** Whether the cause of an outage may be that the device, not the origin, has no network. */
export const isOffline = (network: Network, down: Health): boolean =>
  !down.isAnswered && network.isDoubtful();
