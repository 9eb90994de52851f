import { Admission } from '../../../src/core/origin/admission.ts';
import type { Network, OriginOptions } from '../../../src/core/origin/origin.ts';
import { openNetwork } from './open-network.ts';
import type { Outcome } from '../../../src/core/policy/outcome.ts';
import type { Ask, Pause, Permit } from '../../../src/core/origin/ask.ts';
import type { Random } from '../../../src/core/lib/clock.ts';
import type { Receive, Leader } from '../../../src/core/tabs/leader.ts';
import { createVirtualClock, epochMs, type VirtualClock } from './virtual-clock.ts';

const http = { kind: 'http', processed: 'no', retryAfterMs: undefined, inProgress: false } as const;
/** An outcome of each kind that makes a difference to the origin. */
const outcomes = {
  success: { kind: 'ok', status: 200, processed: 'yes' },
  alive: { ...http, status: 404 },
  outage: { ...http, status: 503 },
  timeout: { kind: 'timeout', phase: 'headers', processed: 'unknown' },
  nothing: { kind: 'aborted', processed: 'unknown' },
} satisfies Record<string, Outcome>;

/** What an attempt shows of its origin. */
export type Shown = keyof typeof outcomes;

/** What has become of something that asked to be sent. */
interface Asked {
  /** When it went, and whether as the probe; when its time was up. */
  readonly story: string[];
  /** Why it waits, and until when, in milliseconds since the beginning. */
  readonly paused: () => string | undefined;
  /** The answer to it, or the lack of one. */
  readonly settle: (shown: Shown) => void;
  /** Gives its permit back: nothing was sent. */
  readonly giveBack: () => void;
  readonly leave: () => void;
  readonly renew: () => void;
}

export interface OriginRig {
  readonly admission: Admission;
  readonly clock: VirtualClock;
  readonly ask: (endpoint: string, options?: Partial<Ask>) => Asked;
  /** Sends something that may go at once, and settles it. */
  readonly send: (endpoint: string, shown: Shown, latencyMs?: number) => void;
  /** What went when: `1400 a probe`. */
  readonly log: readonly string[];
  /** Lets time pass, with what happens in between. */
  readonly advance: (ms: number) => Promise<void>;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The admission of one origin, on a clock of its own. Every draw of chance is in the middle. */
export function openOrigin(
  options: OriginOptions = {},
  random: Random = () => 0.5,
  joinTabs?: (receive: Receive) => Leader,
  clock = createVirtualClock(),
  network: Network = openNetwork,
): OriginRig {
  const admission = new Admission(options, {
    clock,
    random,
    network,
    joinTabs,
    isWatched: () => false,
    onChange() {},
  });
  const log: string[] = [];
  let lastId = 0;
  const ask: OriginRig['ask'] = (endpoint, own = {}) => {
    const story: string[] = [];
    let permit: Permit | undefined;
    let paused: Pause | undefined;
    const take = (given: Permit | undefined): void => {
      permit = given;
      paused = undefined;
      const what = given ? (given.isProbe ? ' probe' : '') : ' expired';
      story.push(`${clock.elapsed()}${what}`);
      log.push(`${clock.elapsed()} ${endpoint}${what}`);
    };
    const target: Ask = {
      endpoint,
      resource: endpoint,
      limitScope: endpoint,
      isNew: true,
      id: ++lastId,
      risk: 0,
      priority: 'user-visible',
      isForeground: () => true,
      isFailFast: false,
      askedAt: clock.now(),
      maxPauseMs: 60_000,
      ...own,
    };
    const entered = admission.enter(target);
    if (entered) take(entered);
    const waiter = entered
      ? undefined
      : admission.wait(target, { onPause: (why) => void (paused = why), take });
    return {
      story,
      paused: () => paused && `${paused.reason} ${(paused.retryAt ?? NaN) - epochMs}`,
      settle: (shown) => permit?.end(outcomes[shown], endpoint),
      giveBack: () => permit?.end(undefined, undefined, true),
      leave: () => waiter && admission.leave(waiter),
      renew: () => waiter && admission.renew(waiter),
    };
  };
  return {
    admission,
    clock,
    log,
    ask,
    send(endpoint, shown, latencyMs = 0) {
      const asked = ask(endpoint);
      clock.advance(latencyMs);
      asked.settle(shown);
    },
    async advance(ms) {
      await turn();
      // Step by step: what was asked for in a turn is looked at after it.
      for (let left = ms; left > 0; left -= 50) {
        clock.advance(Math.min(50, left));
        await turn();
      }
    },
  };
}
