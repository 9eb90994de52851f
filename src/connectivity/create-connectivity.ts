import { createAlarm } from '../origin/alarm.ts';
import { between } from '../origin/between.ts';
import type { Heart } from '../origin/heart.ts';
import { originOf } from '../origin/origins.ts';
import { createStore } from '../origin/store.ts';
import type { Clock, Random } from '../lib/clock.ts';
import type { Connectivity, ConnectivityState } from './connectivity.ts';
import type { Hint, HintEvent } from './hint.ts';
import type { CheckResult } from './check.ts';

/** From one look to the next, on average. */
const leastGapMs = 2000;
const mostGapMs = 10_000;

/** So many looks the browser's events may cause at once, and then one for each `leastGapMs`. */
const mostLooks = 3;

/** After so many looks that found nothing, it may be the check that is wrong. */
const patience = 3;

/** What answers a device that is offline, too. */
const loopback = /\/\/(localhost|127\.|\[::1\])|\.localhost(:|$)/;

/**
 * A device is offline when the browser says so, and a look confirms it: the check fails or, without
 * one, a request does. Neither is enough alone. `onLine` is false on machines that reach their
 * server all the same, so an answer proves it wrong until the browser speaks again; and a check that
 * fails may be the fault of its own server. A captive portal is as good as no network.
 *
 * While offline, and without a check that can be relied on, `lookAt` asks an origin for any answer:
 * nobody's request is put at risk to find out. It asks the one that failed last, and then the others
 * that requests have gone to, in turn: that one may be down.
 */
export function createConnectivity(
  clock: Clock,
  random: Random,
  heart: Heart,
  hint: Hint | undefined,
  check: ((signal: AbortSignal) => Promise<CheckResult>) | undefined,
  lookAt: (origin: string, signal: AbortSignal) => Promise<CheckResult>,
  knownOrigins: () => readonly string[],
): Connectivity {
  const { getState, subscribe, set } = createStore<ConnectivityState>({
    status: 'online',
    since: clock.now(),
    nextCheckAt: undefined,
  });
  let isOffline = false;
  let hintedAt = -Infinity;
  let provenAt = -Infinity;
  let backAt = -Infinity;
  let isCaptive = false;
  let failedLooks = 0;
  /** The origin that got no answer last. */
  let failedOrigin: string | undefined;
  /** The looks at origins since it is offline. */
  let looks = 0;
  /** What calls off the look that is under way. */
  let look: AbortController | undefined;
  /** What the browser's events may cause. */
  let looksLeft = mostLooks;
  let countedAt = -Infinity;
  const undecided: ((isItsDoing: boolean) => void)[] = [];

  const show = (status: ConnectivityState['status'], nextCheckAt?: number): void => {
    const before = getState();
    const since = before.status === status ? before.since : clock.now();
    if (before.status !== status || before.nextCheckAt !== nextCheckAt)
      set({ status, since, nextCheckAt });
  };
  const conclude = (status: ConnectivityState['status']): void => {
    const now = clock.now();
    const wasOffline = isOffline;
    isOffline = status === 'offline';
    look?.abort();
    look = undefined;
    let nextAt: number | undefined;
    if (isOffline) {
      const gapMs = Math.min(leastGapMs * 2 ** failedLooks++, mostGapMs);
      nextAt = now + between(random, 0.5, 1.5) * gapMs;
    } else {
      failedLooks = looks = 0;
      if (wasOffline) backAt = now;
    }
    setAlarm(nextAt ?? Infinity);
    beat(isOffline ? Infinity : 0);
    for (const judge of undecided.splice(0)) judge(!isOffline);
    show(status, nextAt);
  };
  /** After a look that found nothing. */
  const despair = (): void => {
    const isDenied = !!hint?.isOffline() && provenAt < hintedAt && !!(check ?? failedOrigin);
    // The browser says that it is back, and may be early.
    const isPatient = isOffline && failedLooks < patience;
    conclude(isDenied || isPatient ? 'offline' : 'suspect');
  };
  const send = async (signal: AbortSignal): Promise<CheckResult> => {
    const result = check ? await check(signal) : 'failed';
    if (result !== 'failed' || !isOffline || isCaptive || signal.aborted) return result;
    // So that a check which is wrong stops nobody for ever.
    if (check && failedLooks <= patience) return result;
    const known = [originOf(''), ...knownOrigins()].filter((one) => !loopback.test(one));
    const origins = [...new Set([failedOrigin ?? '', ...known])].filter((one) =>
      one.startsWith('http'),
    );
    const origin = origins[looks++ % origins.length];
    return origin ? lookAt(origin, signal) : result;
  };
  const start = async (): Promise<void> => {
    look?.abort();
    const mine = (look = new AbortController());
    setAlarm(Infinity);
    show(isOffline ? 'offline' : 'suspect');
    const result = await send(mine.signal);
    if (look !== mine) return;
    isCaptive = result === 'captive';
    if (result === 'reached') {
      provenAt = clock.now();
      conclude('online');
    } else if (isCaptive) conclude('offline');
    else despair();
  };
  const checkNow = (): void => {
    if (!look && (check || isOffline)) void start();
  };
  /** The same, but not as often as the browser changes its mind. */
  const checkSoon = (): void => {
    const now = clock.now();
    const refill = Math.max(0, now - countedAt) / leastGapMs;
    looksLeft = Math.min(mostLooks, looksLeft + refill);
    countedAt = now;
    if (looksLeft >= 1) {
      looksLeft--;
      return void start();
    }
    // What is under way is older news.
    look?.abort();
    look = undefined;
    const at = now + Math.ceil((1 - looksLeft) * leastGapMs);
    setAlarm(at);
    show(isOffline ? 'offline' : 'suspect', at);
  };
  const setAlarm = createAlarm(clock, checkSoon);
  // Timers stood still in the machine's sleep, and so did the looks.
  const beat = heart.join(checkNow);

  const onHint = (event: HintEvent): void => {
    if (event === 'visible') {
      if (isOffline && !look) checkSoon();
      return;
    }
    hintedAt = clock.now();
    failedLooks = 0;
    if (check) checkSoon();
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
      if (check) void start();
      else despair();
    },
    network: {
      isOffline: () => isOffline,
      retryAt: () => getState().nextCheckAt,
      subscribe,
      heart,
    },
    dispose() {
      unwatch?.();
      check = undefined;
      hint = undefined;
      conclude('online');
    },
  };
}
