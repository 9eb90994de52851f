import { type Clock, type Random, between } from '../lib/clock.ts';
import { createAlarm } from '../lib/timer.ts';
import type { SleepDetector } from '../lib/timer.ts';
import type { Network } from '../origin/origin.ts';
import { watchConnection } from '../lib/browser/page.ts';
import { originOf } from '../lib/input/url.ts';
import { createEmitter, createStore, keepIfSame, type Readable } from '../lib/store.ts';
import type { CheckResult } from './check.ts';
import type { Hint, HintEvent } from './page-life.ts';

/** Whether there is a network. */
export interface ConnectivityState {
  /**
   * `online`: no evidence against the network. `suspect`: some evidence; only React Query pauses, if the browser
   * says offline. `offline`: the device is offline as far as can be known, and operations are paused.
   */
  readonly status: 'online' | 'suspect' | 'offline';
  /** When `status` began, in epoch milliseconds. */
  readonly since: number;
  /** While offline: when the network is checked next, in epoch milliseconds. */
  readonly nextCheckAt: number | undefined;
}

/** The state of the network, from the browser, from requests and from checks. */
export interface Connectivity extends Readable<ConnectivityState> {
  /** Checks the network now. Without a `check`, only while offline, by a request to a known origin. */
  readonly checkNow: () => void;
  /** Whether there is an origin to check. Without one, only an answer to the app's own request refutes the browser. */
  readonly canCheck: () => boolean;
  /** A request that was sent at `sentAt` got an answer, of any kind. */
  readonly recordAnswer: (sentAt: number, now: number, url: string) => void;
  /**
   * A request that was sent at `sentAt` got no answer. `onCause` is called, now or later, with whether the
   * origin is at fault. A failure that may have another cause (`isCertain` is false) counts only while the
   * browser says that it is offline, too.
   */
  readonly recordNoAnswer: (
    sentAt: number,
    url: string,
    onCause: (isOriginAtFault: boolean) => void,
    isCertain?: boolean,
  ) => void;
  /** The network, as the admission of every origin reads it. */
  readonly network: Network;
  /** Forgets everything learned: only the browser's current state counts. */
  readonly forget: () => void;
  readonly dispose: () => void;
}

/** The mean time between two checks while offline: it doubles from the least to the greatest. */
const leastGapMs = 2000;
const greatestGapMs = 10_000;

/** The number of checks that browser events may start at once. After them, one per `leastGapMs`. */
const maxEventChecks = 3;

/** After this many checks without an answer, the check itself may be wrong. */
const patience = 3;

/** Origins that answer even while the device is offline. */
const loopback = /\/\/(localhost|127\.|\[::1\])|\.localhost(:|$)/;

/** A token bucket for the checks that browser events start. @returns a function that takes one, and returns its wait. */
function createEventBudget(): (now: number) => number {
  let left = maxEventChecks;
  let countedAt = -Infinity;
  return (now) => {
    left = Math.min(maxEventChecks, left + Math.max(0, now - countedAt) / leastGapMs);
    countedAt = now;
    if (left < 1) return Math.ceil((1 - left) * leastGapMs);
    left--;
    return 0;
  };
}

/** The origins that may be asked for any answer, beginning with that of the latest failure. */
function originsToAsk(
  failed: string | undefined,
  others: readonly string[],
  isOffline: boolean,
): readonly string[] {
  const known = [originOf(''), ...others].filter((one) => one.startsWith('http'));
  const remote = known.filter((one) => !loopback.test(one));
  // An app whose server is on the device itself needs no network.
  const asked = remote.length === 0 && !isOffline ? known : remote;
  return [...new Set(failed === undefined ? asked : [failed, ...asked])];
}

/**
 * Decides whether the device is offline: when the browser says so, and a check confirms it. Without a
 * `check`, a failed request confirms it. Neither is enough alone: `navigator.onLine` is false on some
 * machines that reach their server, so an answer refutes it until the browser's next event, and a check may
 * fail because its own server is down. A captive portal counts as no network.
 *
 * Once the browser has said offline and, while offline, without a working `check`, `checkOrigin` asks an origin
 * for any answer, so that no request of the app is risked. It starts with the origin that failed last, then
 * takes the other known origins in turn, because the first may be down.
 */
export function createConnectivity(
  clock: Clock,
  random: Random,
  sleepDetector: SleepDetector,
  hint: Hint | undefined,
  check: ((signal: AbortSignal) => Promise<CheckResult>) | undefined,
  checkOrigin: (origin: string, signal: AbortSignal) => Promise<CheckResult>,
  knownOrigins: () => readonly string[],
): Connectivity {
  const { getState, subscribe, set } = createStore<ConnectivityState>({
    status: 'online',
    since: clock.now(),
    nextCheckAt: undefined,
  });
  const { emit: emitBack, on: onBack } = createEmitter();
  let isOffline = false;
  /** The result of the latest check. */
  let latest: CheckResult = 'reached';
  let hintedAt = -Infinity;
  let answeredAt = -Infinity;
  let backAt = -Infinity;
  let failedChecks = 0;
  /** The origin of the latest unanswered request. */
  let failedOrigin: string | undefined;
  /** The number of checks of origins since the device went offline: they are taken in turn. */
  let originChecks = 0;
  let takeEventCheck = createEventBudget();
  /** Aborts the running check. */
  let running: AbortController | undefined;
  const awaitingCause: ((isOriginAtFault: boolean) => void)[] = [];

  const setState = (status: ConnectivityState['status'], nextCheckAt?: number): void => {
    const before = getState();
    const since = before.status === status ? before.since : clock.now();
    set(keepIfSame(before, { status, since, nextCheckAt }));
  };
  const endCheck = (status: ConnectivityState['status']): void => {
    const now = clock.now();
    const wasOffline = isOffline;
    isOffline = status === 'offline';
    running?.abort();
    running = undefined;
    let nextAt: number | undefined;
    if (isOffline) {
      const gapMs = Math.min(leastGapMs * 2 ** failedChecks++, greatestGapMs);
      nextAt = now + between(random, 0.5, 1.5) * gapMs;
    } else {
      failedChecks = originChecks = 0;
      if (wasOffline) backAt = now;
    }
    setAlarm(nextAt ?? Infinity);
    watchSleepUntil(isOffline ? Infinity : 0);
    for (const onCause of awaitingCause.splice(0)) onCause(!isOffline);
    setState(status, nextAt);
    if (wasOffline && !isOffline) emitBack();
  };
  const endFailedCheck = (): void => {
    const isDenied = !!hint?.isOffline() && answeredAt < hintedAt && !!(check ?? failedOrigin);
    // The browser's `online` event may come before the network is usable.
    const isPatient = isOffline && failedChecks < patience;
    endCheck(isDenied || isPatient ? 'offline' : 'suspect');
  };
  const runCheck = async (signal: AbortSignal): Promise<CheckResult> => {
    const result = check ? await check(signal) : 'failed';
    if (result !== 'failed' || latest === 'captive' || signal.aborted) return result;
    // A `check` that always fails must not keep the app offline for ever.
    if (check && (!isOffline || failedChecks <= patience)) return result;
    const origins = originsToAsk(failedOrigin, knownOrigins(), isOffline);
    const origin = origins[originChecks++ % origins.length];
    if (origin === undefined) return result;
    const found = await checkOrigin(origin, signal);
    if (found === 'failed' && !signal.aborted) failedOrigin ??= origin;
    return found;
  };
  const startCheck = async (): Promise<void> => {
    running?.abort();
    const mine = (running = new AbortController());
    setAlarm(Infinity);
    setState(isOffline ? 'offline' : 'suspect');
    const result = await runCheck(mine.signal);
    if (running !== mine) return;
    const isBack = latest !== 'reached' && !isOffline && result === 'reached';
    latest = result;
    if (isBack) emitBack();
    if (result === 'reached') {
      answeredAt = clock.now();
      endCheck('online');
    } else if (result === 'captive') endCheck('offline');
    else endFailedCheck();
  };
  const checkNow = (): void => {
    if (!running && (check || isOffline)) void startCheck();
  };
  /** Checks now, or as soon as the budget for events allows. */
  const checkSoon = (): void => {
    const now = clock.now();
    const waitMs = takeEventCheck(now);
    if (waitMs === 0) return void startCheck();
    // The running check began before the event.
    running?.abort();
    running = undefined;
    setAlarm(now + waitMs);
    setState(isOffline ? 'offline' : 'suspect', now + waitMs);
  };
  const setAlarm = createAlarm(clock, checkSoon);
  // Timers stand still while the machine sleeps, so the next check may be overdue.
  const watchSleepUntil = sleepDetector.watch(checkNow);

  const onHint = (event: HintEvent, isEvent = true): void => {
    if (event === 'visible') {
      if (isOffline && !running) checkSoon();
      return;
    }
    hintedAt = clock.now();
    failedChecks = 0;
    if (event === 'online') emitBack();
    // Without a `check`, the first request shows it in a page that was loaded offline.
    if (check || (event === 'offline' && isEvent)) checkSoon();
    else if (event === 'offline') setState('suspect');
    else if (isOffline || running) endCheck('suspect');
  };
  const stops = hint ? [hint.watch(onHint), watchConnection(emitBack)] : [];
  const begin = (): void => {
    if (hint?.isOffline()) onHint('offline', false);
  };
  begin();

  return {
    getState,
    subscribe,
    checkNow,
    canCheck: () => !!check || originsToAsk(failedOrigin, knownOrigins(), isOffline).length > 0,
    recordAnswer(sentAt, now, url) {
      // The answer may have come before the browser's event.
      if (sentAt < hintedAt) return;
      // A portal can answer anything, except with another server's certificate.
      if (latest === 'captive' && !originOf(url).startsWith('https')) return;
      if (latest === 'captive') latest = 'failed';
      answeredAt = now;
      if (running || getState().status !== 'online') endCheck('online');
    },
    recordNoAnswer(sentAt, url, onCause, isCertain = true) {
      if (!isCertain && !hint?.isOffline()) return onCause(true);
      const origin = originOf(url);
      if (origin.startsWith('http')) failedOrigin = origin;
      // The request was cut off by an outage that is over, or was sent while the device was known to be
      // offline.
      if (sentAt < backAt || (isOffline && !running)) return onCause(false);
      // Another request was answered after this one was sent.
      if (answeredAt > Math.max(sentAt, hintedAt)) return onCause(true);
      awaitingCause.push(onCause);
      if (running) return;
      if (check) void startCheck();
      else endFailedCheck();
    },
    network: {
      isOffline: () => isOffline,
      retryAt: () => getState().nextCheckAt,
      subscribe,
      sleepDetector,
      isDoubtful: () => false,
      onBack,
    },
    forget() {
      endCheck('online');
      hintedAt = answeredAt = backAt = -Infinity;
      latest = 'reached';
      failedOrigin = undefined;
      takeEventCheck = createEventBudget();
      begin();
    },
    dispose() {
      for (const stop of stops) stop();
      check = undefined;
      hint = undefined;
      endCheck('online');
    },
  };
}
