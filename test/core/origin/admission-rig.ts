import { Admission } from '../../../src/core/origin/admission.ts';
import type { Ask, Pause, Permit, Target, Waiter } from '../../../src/core/origin/ask.ts';
import type { Reach } from '../../../src/core/origin/health/unreadable.ts';
import type { OriginOptions, Watcher } from '../../../src/core/origin/origin.ts';
import type { Outcome } from '../../../src/core/policy/outcome.ts';
import type { Leader, TabMessage } from '../../../src/core/tabs/leader.ts';
import { createVirtualClock, epochMs } from './virtual-clock.ts';

export const http = (status: number): Outcome => ({
  kind: 'http',
  status,
  processed: 'no',
  retryAfterMs: undefined,
  inProgress: false,
});
export const ok: Outcome = { kind: 'ok', status: 200, processed: 'yes' };
export const outage = http(503);
export const network: Outcome = { kind: 'network', processed: 'unknown' };
export const timeout: Outcome = { kind: 'timeout', phase: 'headers', processed: 'unknown' };

/** A leader of the tabs that notes what it is told, and answers as it is told to. */
function fakeLeader() {
  const told: unknown[] = [];
  const answers = { yields: true, isElsewhere: false, waitsUntil: 0, repeatAt: Infinity };
  const leader: Leader = {
    post: (message) => void told.push(message),
    close: () => void told.push('close'),
    yieldTo: (scope, from) => {
      told.push(`yield ${scope} to ${from}`);
      return answers.yields;
    },
    isElsewhere: () => answers.isElsewhere,
    waitsUntil: (scope, isForeground, sinceMs, lastAt) => {
      told.push(`wait ${scope} ${isForeground} ${sinceMs - epochMs} ${lastAt - epochMs}`);
      return answers.waitsUntil;
    },
    lead: (scope) => void told.push(`lead ${scope}`),
    rest: (scope) => void told.push(`rest ${scope}`),
    leave: (scope) => void told.push(`leave ${scope}`),
    repeat: () => answers.repeatAt,
  };
  return { leader, told, answers };
}

interface Setting {
  readonly options?: OriginOptions;
  readonly isWatched?: boolean;
  readonly hasTabs?: boolean;
  readonly reach?: Reach;
}

/** The admission of one origin, whose network, tabs and clock the test holds. Every draw of chance is in the middle. */
export function openAdmission({
  options = {},
  isWatched = false,
  hasTabs = false,
  reach,
}: Setting = {}) {
  const clock = createVirtualClock();
  const { leader, told, answers } = fakeLeader();
  const device = { isOffline: false, isDoubtful: false, retryAt: epochMs + 99_000 };
  const listeners = { change: new Set<() => void>(), back: new Set<() => void>() };
  const sleep = { checks: 0, untils: [] as number[], wake: (_asleepMs: number): void => {} };
  let changes = 0;
  let receive = (_message: TabMessage, _from: number): void => {};
  const admission = new Admission(options, {
    clock,
    random: () => 0.5,
    network: {
      isOffline: () => device.isOffline,
      isDoubtful: () => device.isDoubtful,
      retryAt: () => device.retryAt,
      subscribe: (listener) => {
        listeners.change.add(listener);
        return () => void listeners.change.delete(listener);
      },
      onBack: (listener) => {
        listeners.back.add(listener);
        return () => void listeners.back.delete(listener);
      },
      sleepDetector: {
        check: () => void sleep.checks++,
        watch: (onWake) => {
          sleep.wake = onWake;
          return (until) => void sleep.untils.push(until);
        },
      },
    },
    isWatched: () => isWatched,
    reach,
    ...(hasTabs && {
      joinTabs: (listener) => {
        receive = listener;
        return leader;
      },
    }),
    onChange: () => void changes++,
  });
  const log: string[] = [];
  let lastId = 0;
  const targetOf = (name: string, own: Partial<Ask> = {}): Ask => ({
    endpoint: name,
    resource: name,
    limitScope: name,
    isNew: true,
    id: ++lastId,
    risk: 0,
    priority: 'user-visible',
    isForeground: () => true,
    isFailFast: false,
    askedAt: clock.now(),
    maxPauseMs: 60_000,
    ...own,
  });
  const enter = (name: string, own?: Partial<Target>): Permit | undefined =>
    admission.enter(targetOf(name, own));
  return {
    admission,
    clock,
    told,
    answers,
    device,
    listeners,
    sleep,
    log,
    enter,
    changes: () => changes,
    receive: (message: TabMessage, from = 0) => receive(message, from),
    reach: (at: number) => clock.advance(at - clock.elapsed()),
    /** Sends it, and ends it at once. */
    send: (name: string, outcome: Outcome, own?: Partial<Target>) =>
      enter(name, own)?.end(outcome, name),
    /** Waits, and notes when it goes or expires. */
    wait(name: string, own: Partial<Ask> = {}) {
      let permit: Permit | undefined;
      let pause: Pause | undefined;
      const request = targetOf(name, own);
      const waiter: Waiter = admission.wait(request, {
        onPause: (why) => void (pause = why),
        take: (given) => {
          permit = given;
          const how = given
            ? given.isProbe
              ? ' probe'
              : given.isTrial
                ? ' trial'
                : ''
            : ' expired';
          log.push(`${clock.elapsed()} ${name}${how}`);
        },
      });
      return {
        waiter,
        end: (outcome?: Outcome, isUnused?: boolean) => permit?.end(outcome, name, isUnused),
        free: () => permit?.free(),
        pause: () => pause && [pause.reason, pause.retryAt && pause.retryAt - epochMs],
      };
    },
    why: (name: string, own: Partial<Ask> = {}) => {
      const { reason, retryAt, probedBy } = admission.whyPaused(targetOf(name, own));
      return [reason, retryAt && retryAt - epochMs, ...(probedBy ? [probedBy] : [])];
    },
    /** A failure that is shown, which is fetched again. */
    watch(name: string, { isSeen = (): boolean => true, awaitedUntil = -Infinity } = {}) {
      const watcher: Watcher = {
        place: { endpoint: name, resource: name, limitScope: name, risk: 0 },
        isSeen,
        awaitedUntil: () => awaitedUntil,
        probe: () => void log.push(`${clock.elapsed()} ${name} watched`),
        onBack: () => void log.push(`${clock.elapsed()} ${name} back`),
      };
      return admission.watch(watcher);
    },
    /** Takes an endpoint down, or the whole origin by two of them. */
    takeDown(...names: readonly string[]) {
      for (const name of names.length === 1 ? [...names, ...names] : names)
        enter(name, { isNew: true })?.end(outage, name);
    },
    /** Takes endpoints down, each by itself, and all at the same time: it has failed, and another tab says the rest. */
    takeDownEach(...names: readonly string[]) {
      for (const name of names) {
        enter('ok')?.end(ok);
        clock.advance(1);
        enter(name)?.end(outage, name);
      }
      for (const name of names) admission.origin.health.follow(name);
    },
    turn: () => Promise.resolve(),
  };
}
