import { checkNames, rejectValue } from '../core/lib/input/check.ts';
import { checkOptions, type IdempotentOptions, requireFrom, type Settings } from './options.ts';

/** Options of `idempotentAction`. Those that are not described here are the same as for `idempotent`. */
export interface IdempotentActionOptions<Tx> extends Pick<
  IdempotentOptions<Tx>,
  'store' | 'lifetimeMs' | 'leaseMs' | 'storeTimeoutMs' | 'onStoreError' | 'now'
> {
  /**
   * The owner of the key: a lasting id of the user, such as the id of the verified session, never the session's
   * token. Without a scope, a client that guesses a key and its content gets the answer. Receives a copy of the fields.
   *
   * @default one scope for all
   */
  readonly scope?: ((fields: FormData) => string | Promise<string>) | undefined;
  /**
   * The name of the action. Two actions with one store and two names never take each other's keys, and a form that is
   * sent again after a deployment is known by it. @default the source text of the function
   */
  readonly name?: string | undefined;
  /**
   * How long a second request waits for the first, in milliseconds: a double click then shows the answer of the first
   * press. After that it is `unknown`. @default 10000
   */
  readonly waitMs?: number | undefined;
  /**
   * The text fields that come back in the state of a form that was not processed, so that a page without JavaScript can
   * show them again. No passwords. @default none
   */
  readonly keepFields?: readonly string[] | undefined;
}

export interface ActionSettings<Tx> extends Pick<
  Settings<Tx>,
  'store' | 'lifetimeMs' | 'leaseMs' | 'storeTimeoutMs' | 'onStoreError' | 'now'
> {
  readonly scope: ((fields: FormData) => string | Promise<string>) | undefined;
  readonly name: string | undefined;
  readonly waitMs: number;
  readonly keepFields: readonly string[];
}

const operation = 'idempotentAction';

const names: readonly (keyof IdempotentActionOptions<unknown>)[] = [
  'store',
  'lifetimeMs',
  'leaseMs',
  'storeTimeoutMs',
  'onStoreError',
  'now',
  'scope',
  'name',
  'waitMs',
  'keepFields',
];

/** @throws TypeError that names the option, its value and the allowed range. */
export function checkActionOptions<Tx>(options: IdempotentActionOptions<Tx>): ActionSettings<Tx> {
  checkNames(operation, options, names);
  const { name, waitMs = 10_000, keepFields = [], ...shared } = options;
  // A scope is checked alike, whatever it is called with.
  const settings = checkOptions(shared as IdempotentOptions<Tx>, operation);
  if (name !== undefined && (typeof name !== 'string' || name === ''))
    rejectValue(operation, 'name', name, 'text that is not empty');
  requireFrom(operation, 'waitMs', waitMs, 0);
  if (!Array.isArray(keepFields) || keepFields.some((field) => typeof field !== 'string'))
    rejectValue(operation, 'keepFields', keepFields, 'a list of names of fields');
  return { ...settings, scope: options.scope, name, waitMs, keepFields };
}
