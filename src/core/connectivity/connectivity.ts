import { type Clock, type Random, between } from '../lib/clock.ts';
import { delayOfReactQuery } from '../policy/backoff.ts';
import { spreadWait } from '../policy/decide.ts';
import { type Alarm, createAlarm, type SleepDetector } from '../lib/timer.ts';
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

/** The dependencies of a watch over the network. */
export interface WatchContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly sleepDetector: SleepDetector;
  /** The browser's word; undefined without a page. */
  readonly hint: Hint | undefined;
  /** The app's own check. */
  readonly check: ((signal: AbortSignal) => Promise<CheckResult>) | undefined;
  /** Asks an origin for any answer. */
  readonly checkOrigin: (origin: string, signal: AbortSignal) => Promise<CheckResult>;
  readonly knownOrigins: () => readonly string[];
}

/** The mean time between two checks while the browser says offline: it doubles from the least to the greatest. */
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
  const known = [globalThis.origin ?? '', ...others].filter((one) => one.startsWith('http'));
  const remote = known.filter((one) => !loopback.test(one));
  // An app whose server is on the device itself needs no network.
  const asked = remote.length === 0 && !isOffline ? known : remote;
  return [...new Set(failed === undefined ? asked : [failed, ...asked])];
}

/**
 * The state of the network, from the browser, from requests and from checks.
 *
 * The device counts as offline when the browser says so and a check confirms it. Without a
 * `check`, a failed request confirms it. Neither is enough alone: `navigator.onLine` is false on some
 * machines that reach their server, so an answer refutes it until the browser's next event, and a check may
 * fail because its own server is down. A captive portal counts as no network.
 *
 * Once the browser has said offline and, while offline, without a working `check`, `checkOrigin` asks an origin
 * for any answer, so that no request of the app is risked. It starts with the origin that failed last, then
 * takes the other known origins in turn, because the first may be down.
 */
export class Connectivity implements Readable<ConnectivityState> {
  readonly getState: () => ConnectivityState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Checks the network now. Without a `check`, only while offline, by a request to a known origin. */
  readonly checkNow: () => void = () => {
    if (!this.#running && (this.#check || this.#isOffline)) void this.#startCheck();
  };
  /** The network, as the admission of every origin reads it. */
  readonly network: Network;
  readonly #context: WatchContext;
  readonly #set: (state: ConnectivityState) => void;
  /** Tells admissions that the network may be back. */
  readonly #emitBack: () => void;
  readonly #setAlarm: Alarm;
  readonly #watchSleepUntil: (until: number) => void;
  readonly #stops: readonly (() => void)[];
  readonly #awaitingCause: ((isOriginAtFault: boolean) => void)[] = [];
  #isDisposed = false;
  #isOffline = false;
  /** The result of the latest check. */
  #latest: CheckResult = 'reached';
  #hintedAt = -Infinity;
  #answeredAt = -Infinity;
  #backAt = -Infinity;
  #failedChecks = 0;
  /** The origin of the latest unanswered request. */
  #failedOrigin: string | undefined;
  /** The number of checks of origins since the device went offline: they are taken in turn. */
  #originChecks = 0;
  #takeEventCheck: (now: number) => number = createEventBudget();
  /** Aborts the running check. */
  #running: AbortController | undefined;

  constructor(context: WatchContext) {
    const { clock, sleepDetector, hint } = context;
    this.#context = context;
    const { getState, subscribe, set } = createStore<ConnectivityState>({
      status: 'online',
      since: clock.now(),
      nextCheckAt: undefined,
    });
    const { emit, on: onBack } = createEmitter();
    this.getState = getState;
    this.subscribe = subscribe;
    this.#set = set;
    this.#emitBack = emit;
    this.network = {
      isOffline: () => this.#isOffline,
      retryAt: () => getState().nextCheckAt,
      subscribe,
      sleepDetector,
      isDoubtful: () => false,
      onBack,
    };
    this.#setAlarm = createAlarm(clock, () => this.#checkSoon());
    // Timers stand still while the machine sleeps, so the next check may be overdue.
    this.#watchSleepUntil = sleepDetector.watch(this.checkNow);
    this.#stops = hint
      ? [hint.watch((event) => this.#recordHint(event)), watchConnection(emit)]
      : [];
    this.#begin();
  }

  /** Whether there is an origin to check. Without one, only an answer to the app's own request refutes the browser. */
  canCheck(): boolean {
    return !!this.#check || this.#originsToAsk().length > 0;
  }

  /** Records that a request that was sent at `sentAt` got an answer, of any kind. */
  recordAnswer(sentAt: number, now: number, url: string): void {
    // The answer may have come before the browser's event.
    if (sentAt < this.#hintedAt) return;
    // A portal can answer anything, except with another server's certificate.
    if (this.#latest === 'captive' && !originOf(url).startsWith('https')) return;
    if (this.#latest === 'captive') this.#latest = 'failed';
    this.#answeredAt = now;
    if (this.#running || this.getState().status !== 'online') this.#endCheck('online');
  }

  /**
   * Records that a request that was sent at `sentAt` got no answer. `onCause` is called, now or later, with whether the
   * origin is at fault. A failure that may have another cause (`isCertain` is false) counts only while the
   * browser says that it is offline, too.
   */
  recordNoAnswer(
    sentAt: number,
    url: string,
    onCause: (isOriginAtFault: boolean) => void,
    isCertain = true,
  ): void {
    if (!isCertain && !this.#isDenied()) return onCause(true);
    const origin = originOf(url);
    if (origin.startsWith('http')) this.#failedOrigin = origin;
    // The request was cut off by an outage that is over, or was sent while the device was known to be offline.
    if (sentAt < this.#backAt || (this.#isOffline && !this.#running)) return onCause(false);
    // Another request was answered after this one was sent.
    if (this.#answeredAt > Math.max(sentAt, this.#hintedAt)) return onCause(true);
    this.#awaitingCause.push(onCause);
    if (this.#running) return;
    if (this.#check) void this.#startCheck();
    else this.#endFailedCheck();
  }

  /** Forgets everything learned: only the browser's current state counts. */
  forget(): void {
    this.#endCheck('online');
    this.#hintedAt = this.#answeredAt = this.#backAt = -Infinity;
    this.#latest = 'reached';
    this.#failedOrigin = undefined;
    this.#takeEventCheck = createEventBudget();
    this.#begin();
  }

  dispose(): void {
    for (const stop of this.#stops) stop();
    this.#isDisposed = true;
    this.#endCheck('online');
  }

  get #check(): WatchContext['check'] {
    return this.#isDisposed ? undefined : this.#context.check;
  }

  /** Whether the browser says that the device is offline. */
  #isDenied(): boolean {
    return !this.#isDisposed && !!this.#context.hint?.isOffline();
  }

  #begin(): void {
    if (this.#isDenied()) this.#recordHint('offline', false);
  }

  /** `isEvent`: the browser has just said it, and does not only say it still. */
  #recordHint(event: HintEvent, isEvent = true): void {
    if (event === 'visible') {
      if (this.#isOffline && !this.#running) this.#checkSoon();
      return;
    }
    this.#hintedAt = this.#context.clock.now();
    this.#failedChecks = 0;
    if (event === 'online') this.#emitBack();
    // Without a `check`, the first request shows it in a page that was loaded offline.
    if (this.#check || (event === 'offline' && isEvent)) this.#checkSoon();
    else if (event === 'offline') this.#show('suspect');
    else if (this.#isOffline || this.#running) this.#endCheck('suspect');
  }

  /** Checks now, or as soon as the budget for events allows. */
  #checkSoon(): void {
    const now = this.#context.clock.now();
    const waitMs = this.#takeEventCheck(now);
    if (waitMs === 0) return void this.#startCheck();
    // The running check began before the event.
    this.#running?.abort();
    this.#running = undefined;
    this.#setAlarm(now + waitMs);
    this.#show(this.#isOffline ? 'offline' : 'suspect', now + waitMs);
  }

  async #startCheck(): Promise<void> {
    this.#running?.abort();
    const mine = (this.#running = new AbortController());
    this.#setAlarm(Infinity);
    this.#show(this.#isOffline ? 'offline' : 'suspect');
    const result = await this.#runCheck(mine.signal);
    if (this.#running !== mine) return;
    const isBack = this.#latest !== 'reached' && !this.#isOffline && result === 'reached';
    this.#latest = result;
    if (isBack) this.#emitBack();
    if (result === 'reached') {
      this.#answeredAt = this.#context.clock.now();
      this.#endCheck('online');
    } else if (result === 'captive') this.#endCheck('offline');
    else this.#endFailedCheck();
  }

  async #runCheck(signal: AbortSignal): Promise<CheckResult> {
    const check = this.#check;
    const result = check ? await check(signal) : 'failed';
    if (result !== 'failed' || this.#latest === 'captive' || signal.aborted) return result;
    // A `check` that always fails must not keep the app offline for ever.
    if (check && (!this.#isOffline || this.#failedChecks <= patience)) return result;
    const origins = this.#originsToAsk();
    const origin = origins[this.#originChecks++ % origins.length];
    if (origin === undefined) return result;
    const found = await this.#context.checkOrigin(origin, signal);
    if (found === 'failed' && !signal.aborted) this.#failedOrigin ??= origin;
    return found;
  }

  #originsToAsk(): readonly string[] {
    return originsToAsk(this.#failedOrigin, this.#context.knownOrigins(), this.#isOffline);
  }

  #endFailedCheck(): void {
    const isUnrefuted = this.#isDenied() && this.#answeredAt < this.#hintedAt;
    const isConfirmed = isUnrefuted && !!(this.#check ?? this.#failedOrigin);
    // The browser's `online` event may come before the network is usable.
    const isPatient = this.#isOffline && this.#failedChecks < patience;
    this.#endCheck(isConfirmed || isPatient ? 'offline' : 'suspect');
  }

  #endCheck(status: ConnectivityState['status']): void {
    const { clock, random } = this.#context;
    const now = clock.now();
    const wasOffline = this.#isOffline;
    const isOffline = (this.#isOffline = status === 'offline');
    this.#running?.abort();
    this.#running = undefined;
    let nextAt: number | undefined;
    if (isOffline) {
      const failed = this.#failedChecks++;
      const gapMs = this.#isDenied()
        ? between(random, 0.5, 1.5) * Math.min(leastGapMs * 2 ** failed, greatestGapMs)
        : // React Query alone would send its requests, and repeat them at these times.
          spreadWait(Math.min(delayOfReactQuery(failed), greatestGapMs), random);
      nextAt = now + gapMs;
    } else {
      this.#failedChecks = this.#originChecks = 0;
      if (wasOffline) this.#backAt = now;
    }
    this.#setAlarm(nextAt ?? Infinity);
    this.#watchSleepUntil(isOffline ? Infinity : 0);
    for (const onCause of this.#awaitingCause.splice(0)) onCause(!isOffline);
    this.#show(status, nextAt);
    if (wasOffline && !isOffline) this.#emitBack();
  }

  #show(status: ConnectivityState['status'], nextCheckAt?: number): void {
    const before = this.getState();
    const since = before.status === status ? before.since : this.#context.clock.now();
    this.#set(keepIfSame(before, { status, since, nextCheckAt }));
  }
}
