import { Connectivity } from '../../../src/core/connectivity/connectivity.ts';
import { createSleepDetector } from '../../../src/core/lib/timer.ts';
import type { HintEvent } from '../../../src/core/connectivity/page-life.ts';
import type { CheckResult } from '../../../src/core/connectivity/check.ts';
import type { Random } from '../../../src/core/lib/clock.ts';
import { createVirtualClock, epochMs, type VirtualClock } from '../origin/virtual-clock.ts';

/** Evidence of the network, on a clock of its own and with a browser that says what the test wants. */
export interface Evidence {
  readonly connectivity: Connectivity;
  readonly clock: VirtualClock;
  /** What the browser says from now on, with its event. */
  readonly say: (event: HintEvent) => void;
  /** When the probe was sent. */
  readonly probes: readonly number[];
  /** When a look of its own was sent, and where. */
  readonly looks: readonly string[];
  /** How many of them are under way, and not called off. */
  readonly underWay: () => number;
  /** The probe or look that was sent last comes to this. */
  readonly end: (result: CheckResult) => Promise<void>;
  /** Status and time, at each change. */
  readonly story: readonly string[];
  /** A request fails that was sent then, now if it is left out: whose doing that is, once it is known. */
  readonly fail: (
    sentAtMs?: number,
    url?: string,
  ) => { readonly isItsDoing: () => boolean | undefined };
  readonly answer: (sentAtMs?: number, url?: string) => void;
  readonly state: () => readonly [status: string, sinceMs: number, nextMs: number | undefined];
}

interface Start {
  readonly isOffline?: boolean;
  readonly hasProbe?: boolean;
  readonly hasPage?: boolean;
  readonly random?: Random;
  /** The origins that requests have gone to. */
  readonly known?: readonly string[];
}

export function gather(start: Start = {}): Evidence {
  const { hasProbe = false, hasPage = true, random = () => 0.5, known = [] } = start;
  let { isOffline = false } = start;
  const clock = createVirtualClock();
  const listeners = new Set<(event: HintEvent) => void>();
  const probes: number[] = [];
  const looks: string[] = [];
  let finish: (result: CheckResult) => void = () => {};
  const hint = {
    isOffline: () => isOffline,
    watch(listener: (event: HintEvent) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const sent = new Set<object>();
  const send = (signal: AbortSignal): Promise<CheckResult> => {
    const one = {};
    sent.add(one);
    signal.addEventListener('abort', () => sent.delete(one));
    return new Promise((resolve) => {
      finish = (result) => {
        sent.delete(one);
        resolve(result);
      };
    });
  };
  const probe = (signal: AbortSignal): Promise<CheckResult> => {
    probes.push(clock.elapsed());
    return send(signal);
  };
  const lookAt = (origin: string, signal: AbortSignal): Promise<CheckResult> => {
    looks.push(`${clock.elapsed()} ${origin}`);
    return send(signal);
  };
  const connectivity = new Connectivity({
    clock,
    random,
    sleepDetector: createSleepDetector(clock),
    hint: hasPage ? hint : undefined,
    check: hasProbe ? probe : undefined,
    checkOrigin: lookAt,
    knownOrigins: () => known,
  });
  const story: string[] = [];
  connectivity.subscribe(() => {
    story.push(`${clock.elapsed()} ${connectivity.getState().status}`);
  });
  return {
    connectivity,
    clock,
    probes,
    looks,
    underWay: () => sent.size,
    story,
    say(event) {
      if (event !== 'visible') isOffline = event === 'offline';
      for (const listener of listeners) listener(event);
    },
    async end(result) {
      finish(result);
      for (let turns = 0; turns < 6; turns++) await Promise.resolve();
    },
    fail(sentAtMs = clock.elapsed(), url = 'https://api.example/a') {
      let isItsDoing: boolean | undefined;
      connectivity.recordNoAnswer(epochMs + sentAtMs, url, (is) => (isItsDoing = is));
      return { isItsDoing: () => isItsDoing };
    },
    answer: (sentAtMs = clock.elapsed(), url = 'https://api.example/a') =>
      connectivity.recordAnswer(epochMs + sentAtMs, clock.now(), url),
    state() {
      const { status, since, nextCheckAt } = connectivity.getState();
      return [status, since - epochMs, nextCheckAt && nextCheckAt - epochMs];
    },
  };
}
