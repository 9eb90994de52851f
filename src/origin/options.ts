import { reject } from '../policy/check-option.ts';
import type { SharePorts } from '../tabs/channel.ts';
import type { ConcurrencyOptions } from './concurrency.ts';
import type { HealthOptions } from './health.ts';
import type { BudgetOptions } from './retry-budget.ts';

/** How an origin is treated. */
export interface OriginOptions {
  /** What retries are paid from; `false`: nothing. @default 10 tokens, 0.4 back for a success */
  readonly budget?: BudgetOptions | false | undefined;
  /** When an endpoint or the origin is taken for down; `false`: never. @default consecutive failures that chance would hardly explain */
  readonly health?: HealthOptions | false | undefined;
  /** A bulkhead. @default none */
  readonly concurrency?: ConcurrencyOptions | undefined;
  /**
   * Whether the tabs of a browser share what they know of an origin, and one of them probes for all;
   * or what to share it over. Only where there is a BroadcastChannel. @default true
   */
  readonly share?: boolean | SharePorts | undefined;
}

/** The least and the greatest value of each number. */
const ranges: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> = {
  budget: { maxTokens: [1, Infinity], tokensPerSuccess: [0, Infinity] },
  health: { maxChance: [0, 1] },
  concurrency: {
    maxInFlight: [1, Infinity],
    maxQueued: [0, Infinity],
    queueTimeoutMs: [0, Infinity],
  },
};

/** @throws TypeError that names the operation, the option, its value and the allowed range. */
export function checkOrigin(operation: string, options: OriginOptions): void {
  for (const [name, part] of Object.entries(options)) {
    const range = ranges[name];
    if (!range) {
      if (name !== 'share') reject(operation, name, part, 'left out: there is no such option');
      continue;
    }
    for (const [key, value] of Object.entries(part || {})) {
      const [least, greatest] =
        range[key] ??
        reject(operation, `${name}.${key}`, value, 'left out: there is no such option');
      if (
        value !== undefined &&
        !(typeof value === 'number' && value >= least && value <= greatest)
      ) {
        reject(operation, `${name}.${key}`, value, `a number from ${least} to ${greatest}`);
      }
    }
  }
}
