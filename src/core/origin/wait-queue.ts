import { keepIfSame, keepLast } from '../lib/store.ts';
import type { Ask, Pause, Waiter, WaitListener } from './ask.ts';

/** Listeners that are called in one task. The limit keeps thousands of them from blocking the page. */
const mostInOneTask = 500;

/** Without an event, whether a user waits is read again after this time. */
const rereadMs = 1000;

/** The facts that all attempts of a group share, so that the gates are checked once for all of them. */
export type Shared = Pick<
  Ask,
  | 'endpoint'
  | 'limitScope'
  | 'mayBeOffline'
  | 'risk'
  | 'isNew'
  | 'isOnce'
  | 'isFailFast'
  | 'priority'
> &
  Pick<Waiter, 'hasFailed' | 'isOther'>;

/** The scope of the whole origin, as opposed to one endpoint. */
export const everything = '';

/** Whether a group waits for an endpoint in the scope. */
export const isWithin = (scope: string, { shared }: Group): boolean =>
  scope === everything || scope === shared.endpoint;

/** The groups that wait for an endpoint in the scope. */
export const groupsOf = (scope: string, groups: readonly Group[]): readonly Group[] =>
  groups.filter((group) => isWithin(scope, group));

/** Whether a user waits for it. Any other priority than `user-visible` overrides what the page shows. */
const isForeground = ({ request }: Waiter): boolean =>
  request.priority === 'user-visible'
    ? request.isForeground()
    : request.priority === 'user-blocking';

/** By request time, then by operation id. */
const isBehind = (one: Waiter, other: Waiter): boolean =>
  (one.askedAt - other.askedAt || one.request.id - other.request.id) > 0;

/** Attempts with the same facts. Finding one takes logarithmic time. */
export class Group {
  readonly shared: Shared;
  /** By request time. */
  readonly waiters: Waiter[] = [];
  /** When the first wait expires, or earlier. */
  expiresAt: number = Infinity;
  /** Refreshes of shown data. */
  readonly #refreshing: Set<Waiter> = new Set();
  /** This many waiters at the front are known to be in the background. */
  #background = 0;
  #pause: Pause | undefined;
  /** Waiters whose listener has not been called with the present pause. */
  #unnotified: Set<Waiter> = new Set();

  constructor(shared: Shared) {
    this.shared = shared;
  }

  /**
   * The waiter that is sent first, and its rank, which is compared number by number. `probed`: how often its
   * endpoint and a URL of it have failed, if it would be sent as a probe. `behindFrom`: it goes as if requested then.
   */
  first(
    probed?: ProbeFailures,
    behindFrom: number = -Infinity,
  ): readonly [waiter: Waiter, order: readonly number[]] {
    const { risk, priority } = this.shared;
    const firstSeen = this.#firstInForeground();
    // A group is dropped with its last waiter.
    const first = (firstSeen ?? this.waiters[0]) as Waiter;
    const waiter = probed ? this.#leastTried(probed, first) : first;
    const seen = waiter === first ? firstSeen : isForeground(waiter);
    const isProbe = probed !== undefined;
    const order = [
      // Probes go first.
      isProbe ? 0 : 1,
      // By fewest failures, because one broken endpoint must not keep its origin down; then by least risk.
      probed?.ofEndpoint ?? 0,
      isProbe ? risk : 0,
      // The foreground goes before the background.
      seen ? (priority === 'user-visible' ? 1 : 0) : 2,
      // By request time, or after others that share a rate limit; then by operation id.
      Math.max(waiter.askedAt, behindFrom),
      waiter.request.id,
    ];
    return [waiter, order];
  }

  /** The waiters that are probed for as in the foreground: the first that a user waits for, and visible refreshes. */
  seen(): readonly Waiter[] {
    const first = this.#firstInForeground();
    const refreshing = [...this.#refreshing].filter(({ request }) => request.isRefreshSeen?.());
    return first ? [first, ...refreshing] : refreshing;
  }

  /** Call it when waiters may have entered or left the foreground. */
  rereadForeground(): void {
    this.#background = 0;
  }

  insert(waiter: Waiter): void {
    const at = this.#indexAfter(waiter);
    this.waiters.splice(at, 0, waiter);
    this.#background = Math.min(this.#background, at);
    this.expiresAt = Math.min(this.expiresAt, waiter.expiresAt);
    this.#unnotified.add(waiter);
    if (waiter.request.isRefreshSeen && this.shared.priority === 'user-visible')
      this.#refreshing.add(waiter);
  }

  /** @returns whether it was in the group. */
  remove(waiter: Waiter): boolean {
    const at = this.waiters.lastIndexOf(waiter, this.#indexAfter(waiter));
    if (at < 0) return false;
    this.waiters.splice(at, 1);
    if (at < this.#background) this.#background--;
    this.#unnotified.delete(waiter);
    this.#refreshing.delete(waiter);
    return true;
  }

  /** Moves all expiries later. */
  extend(ms: number): void {
    this.expiresAt += ms;
    for (const waiter of this.waiters) waiter.expiresAt += ms;
  }

  /** Call it after waiters were removed. */
  updateExpiry(): void {
    this.expiresAt = Infinity;
    for (const { expiresAt } of this.waiters) this.expiresAt = Math.min(this.expiresAt, expiresAt);
  }

  /** Notifies up to `most` waiters of a new reason of their wait. @returns how many. */
  announce(why: Pause, most: number): number {
    const pause = keepIfSame(this.#pause, why);
    if (pause !== this.#pause) this.#unnotified = new Set(this.waiters);
    this.#pause = pause;
    let count = 0;
    for (const waiter of this.#unnotified) {
      // A listener may have changed the reason, and so have called this method again.
      if (count === most || this.#pause !== pause) break;
      this.#unnotified.delete(waiter);
      count++;
      waiter.listener.onPause(pause);
    }
    return count;
  }

  /** The first waiter of those whose URL has failed least: the broken one of an endpoint must not be its only probe. */
  #leastTried({ ofUrl }: ProbeFailures, first: Waiter): Waiter {
    let [least, leastFailures] = [first, ofUrl(first.request.resource)];
    for (const waiter of this.waiters) {
      const failures = ofUrl(waiter.request.resource);
      if (failures < leastFailures) [least, leastFailures] = [waiter, failures];
    }
    return least;
  }

  /** The first waiter that a user waits for. */
  #firstInForeground(): Waiter | undefined {
    let waiter = this.waiters[this.#background];
    while (waiter && !isForeground(waiter)) waiter = this.waiters[++this.#background];
    return waiter;
  }

  /** The index after all waiters that go before it, or equal it. */
  #indexAfter(waiter: Waiter): number {
    const waiters = this.waiters;
    const isAfter = (at: number): boolean => isBehind(waiters[at] as Waiter, waiter);
    let [least, most] = [0, waiters.length];
    while (least < most) {
      const middle = (least + most) >> 1;
      if (isAfter(middle)) most = middle;
      else least = middle + 1;
    }
    return least;
  }
}

/** How often what a group waits for has failed. */
export interface ProbeFailures {
  readonly ofEndpoint: number;
  readonly ofUrl: (resource: string) => number;
}

/**
 * The waiter that is sent first. `probeFailuresOf` returns the failures of an endpoint that would be probed,
 * `behindFromOf` when a scope was put behind others of its limit.
 */
export function firstOf(
  groups: readonly Group[],
  probeFailuresOf: (group: Group) => ProbeFailures | undefined,
  behindFromOf?: (scope: string) => number,
): Waiter | undefined {
  let best: ReturnType<Group['first']> | undefined;
  for (const group of groups) {
    const first = group.first(probeFailuresOf(group), behindFromOf?.(group.shared.limitScope));
    if (!best || isLess(first[1], best[1])) best = first;
  }
  return best?.[0];
}

function isLess(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((value, index) => value !== other[index]);
  return (one[at] ?? 0) < (other[at] ?? 0);
}

/** The attempts that wait at one origin. */
export class WaitQueue {
  readonly #byKey: Map<string, Group> = new Map();
  /** The groups as a list; undefined after one was added or removed. */
  #groups: readonly Group[] | undefined = [];
  size = 0;
  #readAt = -Infinity;

  groups(): readonly Group[] {
    return (this.#groups ??= [...this.#byKey.values()]);
  }

  /** The number of attempts that wait for this rate limit. */
  sizeOf(limitScope: string): number {
    const groups = this.groups().filter(({ shared }) => shared.limitScope === limitScope);
    return groups.reduce((sum, { waiters }) => sum + waiters.length, 0);
  }

  add(
    request: Ask,
    begun: Pick<Waiter, 'expiresAt' | 'endsFrom' | 'hasFailed' | 'isOther'>,
    listener: WaitListener,
  ): Waiter {
    const { endpoint, limitScope, mayBeOffline, isFailFast, priority, risk, isNew, isOnce } =
      request;
    // Whether it is new matters only for what is never repeated: `Health.passesAt`.
    const isFirst = isNew && risk === 2;
    const facts = [endpoint, limitScope, mayBeOffline, isFailFast, priority, risk, isFirst, isOnce];
    const key = [...facts, begun.hasFailed, begun.isOther].join('\n');
    const waiter = { request, listener, key, askedAt: request.askedAt, ...begun };
    this.#insert(waiter);
    return waiter;
  }

  /** @returns whether it was in the queue. */
  remove(waiter: Waiter): boolean {
    const { key } = waiter;
    const group = this.#byKey.get(key);
    if (!group?.remove(waiter)) return false;
    this.size--;
    if (group.waiters.length === 0) {
      this.#byKey.delete(key);
      this.#groups = undefined;
    }
    return true;
  }

  /** Starts a wait anew, at the place of a new one. */
  renew(waiter: Waiter, askedAt: number): void {
    if (!this.remove(waiter)) return;
    waiter.askedAt = askedAt;
    waiter.expiresAt = askedAt + waiter.request.maxPauseMs;
    this.#insert(waiter);
  }

  /** Moves all expiries later. */
  extend(ms: number): void {
    for (const group of this.groups()) group.extend(ms);
  }

  /** Reads anew which waiters are in the foreground: always if `isChanged`, and otherwise once a second. */
  rereadForeground(now: number, isChanged: boolean): void {
    if (!isChanged && now - this.#readAt < rereadMs) return;
    this.#readAt = now;
    for (const group of this.groups()) group.rereadForeground();
  }

  /** Notifies waiters of a new reason of their wait. @returns whether some are left for another task. */
  announce(why: (group: Group) => Pause): boolean {
    let left = mostInOneTask;
    for (const group of this.groups()) left -= group.announce(why(group), left);
    return left === 0;
  }

  #insert(waiter: Waiter): void {
    const { key, request, hasFailed, isOther } = waiter;
    let group = this.#byKey.get(key);
    if (!group) {
      group = new Group({ ...request, hasFailed, isOther });
      this.#byKey.set(key, group);
      this.#groups = undefined;
    }
    group.insert(waiter);
    this.size++;
  }
}

/** A refusal of an endpoint at which none was refused for so long comes at once. */
const forgetMs = 10_000;
/** Another one comes this long after it. */
const gapMs = 1000;
const maxRefused = 50;

/**
 * When waits may end without having been sent. The first refusal comes at once. An app that asks again at each
 * failure (an effect, an error boundary that resets itself, a loop) would freeze its page if the next ones did, too:
 * over the network each failure takes its time. So those of a query take as long as React Query's own retries.
 */
export class Refusals {
  /** When each endpoint was last refused, the latest at the end. */
  readonly #refusedAt: Map<string, number> = new Map();

  record(endpoint: string, now: number): void {
    const all = this.#refusedAt;
    all.delete(endpoint);
    all.set(endpoint, now);
    keepLast(all, maxRefused);
  }

  /** The earliest end of a wait that begins now. */
  endsFrom({ endpoint, retriesAt }: Pick<Ask, 'endpoint' | 'retriesAt'>, now: number): number {
    const refusedAt = this.#refusedAt.get(endpoint) ?? -Infinity;
    if (now - refusedAt >= forgetMs) return now;
    return Math.max(refusedAt + gapMs, ...(retriesAt ?? []));
  }
}
