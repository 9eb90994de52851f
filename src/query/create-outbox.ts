import type { MutationFunction, MutationFunctionContext, QueryClient } from '@tanstack/react-query';
import { createJson } from '../fetch/json.ts';
import { browserPorts } from '../outbox/browser-ports.ts';
import { databaseName } from '../outbox/database-name.ts';
import { defineHandlers } from '../outbox/define-handlers.ts';
import { createIdbBackend } from '../outbox/idb-backend.ts';
import { openDatabase } from '../outbox/open-database.ts';
import { createOutboxCore, type Delivered, type OutboxCore } from '../outbox/outbox.ts';
import type { Clock } from '../policy/clock.ts';
import { reject } from '../policy/check-option.ts';
import { createIdempotencyKey } from '../policy/idempotency-key.ts';
import { define, type MutationDefinition, type MutationExtras } from './mutation-definition.ts';
import { executionOf } from './mutation-run.ts';
import type {
  AnyOutboxHandlers,
  DeliveredEntry,
  Outbox,
  OutboxConfig,
  OutboxMutationOptions,
} from './outbox.ts';
import { instanceBehind } from './registry.ts';

const outboxes = new WeakMap<QueryClient, Outbox>();

/**
 * The outbox of a QueryClient.
 *
 * @throws Error when it has none.
 */
export function outboxOf(client: QueryClient, operation: string): Outbox {
  const outbox = outboxes.get(client);
  if (outbox) return outbox;
  throw new Error(
    `${operation}: this QueryClient has no outbox. Make one at start-up: createOutbox({ steady, queryClient, handlers }).`,
  );
}

/**
 * Makes the outbox of an app: once, at start-up, with all its handlers, so that what an earlier page
 * has left is delivered.
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * const outbox = createOutbox({
 *   steady,
 *   queryClient,
 *   handlers: {
 *     placeOrder: {
 *       mutationFn: (order: { sku: string }, { json }) =>
 *         json<{ id: string }>('/api/orders', { json: order }),
 *       invalidates: [['orders']],
 *     },
 *   },
 * });
 * const placeOrder = outbox.mutationOptions('placeOrder');
 * ```
 */
export function createOutbox<const H extends AnyOutboxHandlers>(
  config: OutboxConfig<H>,
): Outbox<H> {
  const { steady, queryClient: client, handlers, user, cipher } = config;
  const { name = 'steadfetch-outbox', parallel = 4, ports = browserPorts() } = config;
  const instance =
    instanceBehind((steady as Partial<typeof steady> | undefined)?.defaultOptions?.queries.retry) ??
    reject('createOutbox', 'steady', steady, 'what createSteadfetch returns');
  if (!Number.isSafeInteger(parallel) || parallel < 1)
    reject('createOutbox', 'parallel', parallel, 'a whole number from 1');
  if (user !== undefined && (typeof user !== 'string' || !user))
    reject('createOutbox', 'user', user, 'a text that is not empty');
  const { clock } = instance;
  const { fetch } = steady;
  const database = databaseName(name, user);

  const onDelivered = ({ handler, ...delivered }: Delivered): void => {
    const { invalidates = [], onDelivered: tell } = handlers[handler] ?? {};
    if (!client) return;
    for (const queryKey of invalidates) void client.invalidateQueries({ queryKey });
    tell?.({ ...delivered, client } satisfies DeliveredEntry<unknown, unknown> as never);
  };
  const core = createOutboxCore({
    sender: { ...instance, fetch },
    network: instance.connectivity.network,
    ports,
    name: database,
    handlers: defineHandlers(handlers, instance.policy),
    cipher,
    parallel,
    open: async (onLost) => createIdbBackend(await openDatabase(database, clock, onLost)),
    onDelivered,
  });

  const mutationOptions = (
    handler: string,
    options: OutboxMutationOptions<unknown, unknown, unknown> = {},
  ): object => {
    if (!Object.hasOwn(handlers, handler))
      reject(
        'outbox.mutationOptions',
        'handler',
        handler,
        `one of ${Object.keys(handlers).join(', ')}`,
      );
    const mutationFn = createMutationFn(core, clock, handler, {
      policy: instance.policy,
      operations: instance.operations,
      fetch,
      json: createJson(fetch),
    });
    return { ...options, mutationFn, retry: false, networkMode: 'always' };
  };

  const outbox: object = {
    ...core,
    mutationOptions,
    submit: (handler: string, variables: unknown) => core.submit(handler, variables),
    dispose() {
      core.dispose();
      if (client && outboxes.get(client) === outbox) outboxes.delete(client);
    },
  };
  if (client) outboxes.set(client, outbox as Outbox);
  return outbox as Outbox<H>;
}

type Basics = Omit<MutationDefinition, 'extend' | keyof MutationExtras>;

function createMutationFn(
  { submit }: OutboxCore,
  clock: Clock,
  handler: string,
  basics: Basics,
): MutationFunction {
  const make = (extras: MutationExtras): MutationFunction => {
    // React Query calls it as a method of the mutation's options.
    const keep = function (this: unknown, variables: unknown, given: MutationFunctionContext) {
      const known = extras.answer?.();
      if (known) return Promise.resolve(known.data);
      const { intent } = executionOf(given, this, variables, () =>
        extras.intentOf
          ? extras.intentOf(variables as never)
          : { key: createIdempotencyKey(), createdAt: clock.now() },
      );
      return submit(handler, variables, intent).delivered;
    };
    return define(keep, { ...extras, ...basics, extend: (more) => make({ ...extras, ...more }) });
  };
  return make({});
}
