import type { OriginOptions } from '../../src/origin/options.ts';
import { createGate, type Gate } from '../../src/origin/gate.ts';
import type { Sign } from '../../src/origin/sign.ts';
import type { Ask, Turn, Waiter } from '../../src/origin/waiting.ts';
import type { Random } from '../../src/policy/clock.ts';
import type { HoldReason } from '../../src/policy/outcome.ts';
import { createVirtualClock, epochMs, type VirtualClock } from './virtual-clock.ts';

export const ok: Sign = { kind: 'alive', isSuccess: true };
export const answered: Sign = { kind: 'alive', isSuccess: false };
export const broken: Sign = { kind: 'outage', weight: 1 };
export const timedOut: Sign = { kind: 'outage', weight: 2 };
export const aborted: Sign = { kind: 'nothing' };

/**
 * With chance in the middle: from the trip to the first canary, and from one canary to the next, where
 * something new is asked for; and both where nothing is, in a tab that has asked for two things.
 */
export const firstMs = 3000;
export const nextMs = 3000;
export const firstTimedMs = 5500;
export const nextTimedMs = 12_000;
/** What was asked for so shortly before a recovery goes with it. */
export const freshMs = 2000;

/** What has become of something that asked to be sent. */
interface Asked {
  readonly name: string;
  readonly waiter: Waiter | undefined;
  /** How its wait ended, and when: once, if all is well. */
  readonly turns: readonly (readonly [turn: Turn, atMs: number])[];
  /** What it was told while it waited. */
  readonly holds: readonly (readonly [reason: HoldReason, retryAtMs: number | undefined])[];
  /** The answer to it, or the lack of one. */
  readonly settle: (sign: Sign, latencyMs?: number) => void;
}

/** The gate of one origin, on a clock of its own. */
export interface OpenGate {
  readonly gate: Gate;
  readonly clock: VirtualClock;
  /** Waits for a turn, without trying the open door first. */
  readonly ask: (name: string, options?: Partial<Ask>, take?: (turn: Turn) => void) => Asked;
  /** Sends something that the gate lets through at once, and settles it. */
  readonly send: (name: string, sign: Sign, latencyMs?: number) => void;
  /** Two failures in a row: enough for an origin that has always been well. */
  readonly trip: () => void;
  /** What has had which turn when, in milliseconds since the beginning. */
  readonly log: readonly string[];
}

/** Every draw of chance is in the middle, unless it is told otherwise. */
export function openGate(options: OriginOptions = {}, random: Random = () => 0.5): OpenGate {
  const clock = createVirtualClock();
  const gate = createGate(clock, random, options);
  const log: string[] = [];
  const send: OpenGate['send'] = (name, sign, latencyMs = 0) => {
    if (!gate.tryEnter(true)) throw new Error(`${name} was not let through.`);
    gate.settle(name, false, sign, latencyMs, sign.kind === 'outage' ? name : undefined);
  };
  return {
    gate,
    clock,
    log,
    send,
    trip() {
      send('first', broken);
      send('second', broken);
    },
    ask(name, asked = {}, take = () => {}) {
      const turns: [Turn, number][] = [];
      const holds: [HoldReason, number | undefined][] = [];
      let sentAt = 0;
      const ask: Ask = {
        endpoint: name,
        risk: 0,
        isNew: true,
        priority: 'user-visible',
        isFailFast: false,
        holdMs: 60_000,
        onHold: ({ reason, retryAt }) => void holds.push([reason, retryAt && retryAt - epochMs]),
        ...asked,
      };
      const waiter = gate.wait(ask, (turn) => {
        turns.push([turn, clock.elapsed()]);
        log.push(`${clock.elapsed()} ${name} ${turn}`);
        sentAt = clock.now();
        take(turn);
      });
      return {
        name,
        waiter,
        turns,
        holds,
        settle: (sign, latencyMs = clock.now() - sentAt) =>
          gate.settle(ask.endpoint, turns[0]?.[0] === 'canary', sign, latencyMs, name),
      };
    },
  };
}
