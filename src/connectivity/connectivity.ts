import { createAlarm } from '../origin/alarm.ts';
import { between } from '../origin/circuit.ts';
import { createHeart } from '../origin/heart.ts';
import type { Network } from '../origin/network.ts';
import { originOf } from '../origin/origins.ts';
import { createStore, type Readable } from '../origin/store.ts';
import type { Clock, Random } from '../policy/clock.ts';
import type { Hint, HintEvent } from './hint.ts';
import type { ProbeResult } from './probe.ts';

/** Whether the network is there. */
export interface ConnectivityState {
  /**
   * `online`: nothing speaks against it. `suspect`: something does, and nothing is held for it.
   * `offline`: the device is, as far as can be known, and operations are held.
   */
  readonly status: 'online' | 'suspect' | 'offline';
  /** Since when, in epoch milliseconds. */
  readonly since: number;
  /** While offline: when it is looked for next, in epoch milliseconds. */
  readonly nextProbeAt: number | undefined;
}

/** Evidence of the network, from what requests show. */
export interface Connectivity extends Readable<ConnectivityState> {
  /** Looks now: by the probe or, without one, while offline, by a request of its own. */
  readonly checkNow: () => void;
  /** An answer of any kind came, to a request that was sent then. */
  readonly answered: (sentAt: number, now: number, url: string) => void;
  /** None came. Tells, now or when it is known, whether that is the origin's doing. */
  readonly failed: (sentAt: number, url: string, judge: (isItsDoing: boolean) => void) => void;
  /** What the gates of all origins hold by. */
  readonly network: Network;
  readonly dispose: () => void;
}

/** From one look to the next, on average. */
const leastGapMs = 2000;
const mostGapMs = 30_000;

/** After so many looks that found nothing, it may be the probe that is wrong. */
const patience = 3;

/** What answers a device that is offline, too. */
const loopback = /\/\/(localhost|127\.|\[::1\])|\.localhost(:|$)/;

/**
 * A device is offline when the browser says so, and a look confirms it: the probe fails or, without
 * one, a request does. Neither is enough alone. `onLine` is false on machines that reach their
 * server all the same, so an answer proves it wrong until the browser speaks again; and a probe that
 * fails may be the fault of its own server. A captive portal is as good as no network.
 *
 * While offline, and without a probe that can be relied on, `lookAt` asks an origin for any answer:
 * nobody's request is put at risk to find out.
 */
export function createConnectivity(
  clock: Clock,
  random: Random,
  hint: Hint | undefined,
  probe: (() => Promise<ProbeResult>) | undefined,
  lookAt: (origin: string) => Promise<ProbeResult>,
): Connectivity {
  const { getState, subscribe, set } = createStore<ConnectivityState>({
    status: 'online',
    since: clock.now(),
    nextProbeAt: undefined,
  });
  let isOffline = false;
  let hintedAt = -Infinity;
  let provenAt = -Infinity;
  let backAt = -Infinity;
  let isCaptive = false;
  let failedLooks = 0;
  /** The origin that got no answer last. */
  let failedOrigin: string | undefined;
  /** The look that is under way. */
  let look: object | undefined;
  let undecided: ((isItsDoing: boolean) => void)[] = [];

  const show = (status: ConnectivityState['status'], nextProbeAt?: number): void => {
    const before = getState();
    const since = before.status === status ? before.since : clock.now();
    if (before.status !== status || before.nextProbeAt !== nextProbeAt)
      set({ status, since, nextProbeAt });
  };
  const conclude = (status: ConnectivityState['status']): void => {
    const now = clock.now();
    const wasOffline = isOffline;
    isOffline = status === 'offline';
    look = undefined;
    let nextAt: number | undefined;
    if (isOffline) {
      const gapMs = Math.min(leastGapMs * 2 ** failedLooks++, mostGapMs);
      nextAt = now + between(random, 0.5, 1.5) * gapMs;
    } else {
      failedLooks = 0;
      if (wasOffline) backAt = now;
    }
    setAlarm(nextAt ?? Infinity);
    beat(isOffline);
    const judged = undecided;
    undecided = [];
    for (const judge of judged) judge(!isOffline);
    show(status, nextAt);
  };
  /** After a look that found nothing. */
  const despair = (): void => {
    const isDenied = !!hint?.isOffline() && provenAt < hintedAt && !!(probe ?? failedOrigin);
    // The browser says that it is back, and may be early.
    const isPatient = isOffline && failedLooks < patience;
    conclude(isDenied || isPatient ? 'offline' : 'suspect');
  };
  const send = async (): Promise<ProbeResult> => {
    const result = probe ? await probe() : 'failed';
    if (result !== 'failed' || !isOffline || isCaptive) return result;
    // So that a probe which is wrong stops nobody for ever.
    if (probe && failedLooks <= patience) return result;
    const origin = failedOrigin ?? originOf('');
    if (!origin.startsWith('http') || (!failedOrigin && loopback.test(origin))) return result;
    return lookAt(origin);
  };
  const start = async (): Promise<void> => {
    const mine = {};
    look = mine;
    setAlarm(Infinity);
    show(isOffline ? 'offline' : 'suspect');
    const result = await send();
    if (look !== mine) return;
    isCaptive = result === 'captive';
    if (result === 'reached') {
      provenAt = clock.now();
      conclude('online');
    } else if (isCaptive) conclude('offline');
    else despair();
  };
  const checkNow = (): void => {
    if (!look && (probe || isOffline)) void start();
  };
  const setAlarm = createAlarm(clock, checkNow);
  const heart = createHeart(clock);
  // Timers stood still in the machine's sleep, and so did the looks.
  const beat = heart.join(checkNow);

  const onHint = (event: HintEvent): void => {
    if (event === 'visible') {
      if (isOffline) checkNow();
      return;
    }
    hintedAt = clock.now();
    failedLooks = 0;
    if (probe) void start();
    else if (event === 'offline') {
      if (!isOffline) show('suspect');
    } else if (isOffline) conclude('suspect');
  };
  const unwatch = hint?.watch(onHint);
  if (hint?.isOffline()) onHint('offline');

  return {
    getState,
    subscribe,
    checkNow,
    answered(sentAt, now, url) {
      // What was sent before the browser spoke may be older news.
      if (sentAt < hintedAt) return;
      // A portal answers what it likes, but not under the certificate of another.
      if (isCaptive && !originOf(url).startsWith('https')) return;
      isCaptive = false;
      provenAt = now;
      if (look || getState().status !== 'online') conclude('online');
    },
    failed(sentAt, url, judge) {
      const origin = originOf(url);
      if (origin.startsWith('http')) failedOrigin = origin;
      // It was cut off by what is over now; or it was told to go all the same.
      if (sentAt < backAt || (isOffline && !look)) return judge(false);
      // Something was answered in the meantime.
      if (provenAt > Math.max(sentAt, hintedAt)) return judge(true);
      undecided.push(judge);
      if (look) return;
      if (probe) void start();
      else despair();
    },
    network: {
      isOffline: () => isOffline,
      retryAt: () => getState().nextProbeAt,
      subscribe,
      heart,
    },
    dispose() {
      unwatch?.();
      probe = undefined;
      hint = undefined;
      conclude('online');
    },
  };
}
