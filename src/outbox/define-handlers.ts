import { reject } from '../lib/check.ts';
import { definePolicy, type Policy, type PolicyOptions } from '../policy/options.ts';
import type { Limits } from './fate.ts';
import type { OutboxHandler } from './handler.ts';

/** A handler with every value decided. */
export interface HandlerDefinition extends Limits {
  readonly handler: OutboxHandler<unknown>;
  readonly version: number;
  /** What it lays over the policy of the instance. */
  readonly own: PolicyOptions;
  readonly policy: Policy;
}

/** Handlers by name. */
export type OutboxHandlers = Readonly<Record<string, object>>;

/** As long as it takes: the waits grow to minutes, because nobody looks at them. */
const patient = {
  preset: 'critical',
  capMs: 300_000,
  priority: 'user-visible',
} as const satisfies PolicyOptions;

/** @throws TypeError when a handler is not as it must be. */
export function defineHandlers(
  handlers: OutboxHandlers,
  base: Policy,
): ReadonlyMap<string, HandlerDefinition> {
  return new Map(
    Object.entries(handlers).map(([name, handler]) => [name, define(name, handler, base)]),
  );
}

function define(name: string, given: object, base: Policy): HandlerDefinition {
  const operation = `createOutbox: handlers.${name}`;
  const handler = given as OutboxHandler<unknown>;
  const { mutationFn, version = 1, maxAttempts = Infinity, maxAgeMs = Infinity } = handler;
  if (typeof mutationFn !== 'function')
    reject(operation, 'mutationFn', mutationFn, 'a function that sends it');
  if (!Number.isSafeInteger(version) || version < 1)
    reject(operation, 'version', version, 'a whole number from 1');
  if (!(maxAttempts >= 1)) reject(operation, 'maxAttempts', maxAttempts, 'a number from 1');
  if (!(maxAgeMs >= 0)) reject(operation, 'maxAgeMs', maxAgeMs, 'a number from 0');
  const { onDead = 'block', scope, migrate, policy = {} } = handler;
  if (onDead !== 'block' && onDead !== 'pass')
    reject(operation, 'onDead', onDead, `'block' or 'pass'`);
  if (scope !== undefined && typeof scope !== 'string' && typeof scope !== 'function')
    reject(operation, 'scope', scope, 'a string, or a function of the variables');
  if (migrate !== undefined && typeof migrate !== 'function')
    reject(operation, 'migrate', migrate, 'a function');
  for (const option of ['maxRetries', 'deadlineMs']) {
    if (option in policy)
      reject(
        operation,
        `policy.${option}`,
        Reflect.get(policy, option),
        'left out: an entry is sent until it arrives, or until maxAttempts or maxAgeMs of its handler',
      );
  }
  const own = { ...patient, ...policy, maxRetries: maxAttempts - 1, deadlineMs: Infinity };
  return {
    handler,
    version,
    maxAttempts,
    maxAgeMs,
    own,
    policy: definePolicy(operation, base, own),
  };
}
