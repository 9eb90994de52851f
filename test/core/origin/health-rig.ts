import { OriginHealth } from '../../../src/core/origin/health/health.ts';
import type { Place } from '../../../src/core/origin/ask.ts';
import type { Outcome } from '../../../src/core/policy/outcome.ts';
import { createVirtualClock, epochMs } from './virtual-clock.ts';

export type Kind = Outcome['kind'];

/** The health of an origin of which every endpoint has a URL of its own name, unless another one is given. */
export function openHealth(maxChance?: number) {
  const clock = createVirtualClock();
  const outages: string[] = [];
  const health = new OriginHealth(
    clock,
    () => 0.5,
    { maxChance },
    (scope, downMs) => void outages.push(`${scope || 'all'} ${downMs ?? 'down'}`),
  );
  const named = (name: string) => {
    const [endpoint = '', id] = name.split('/');
    return { endpoint, resource: id === undefined ? endpoint : name };
  };
  return {
    health,
    clock,
    outages,
    named,
    reach: (at: number) => clock.advance(at - clock.elapsed()),
    /** Fails now, sent at the same time unless another one is given. @returns what went down. */
    fail: (name: string, kind: Kind = 'http', sentAt = clock.elapsed()) =>
      health.recordFailure(named(name), epochMs + sentAt, kind)?.scope,
    /** @returns what has recovered. */
    answer: (name: string, sentAt = clock.elapsed()) =>
      health.recordSuccess(named(name), epochMs + sentAt),
    send: (name: string) => health.recordSent(named(name).endpoint, clock.now()),
    /** What holds an attempt back. */
    heldBy: (name: string, own: Partial<Place> = {}) =>
      health.downFor({ ...named(name), risk: 0, ...own })?.scope,
    down: () => health.down().map(({ scope }) => scope),
  };
}

export const names = (count: number, prefix = ''): string[] =>
  Array.from({ length: count }, (_, id) => `${prefix}${id}`);
