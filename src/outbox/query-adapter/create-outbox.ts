import { type DevelopmentText, inDevelopment } from '../../core/lib/development.ts';
import type { Clock } from '../../core/lib/clock.ts';
import { checkNames, reject } from '../../core/lib/input/check.ts';
import { pageOf } from '../../core/lib/input/warn.ts';
import { forgetMade, replaceEarlier } from '../../core/lib/browser/hot-update.ts';
import {
  bornNow,
  browserPorts,
  type Instance,
  instanceBehind,
  whatIsMade,
  type MutationDefinition,
} from '../../core/internal.ts';
import { defineHandlers, definitionOf, type HandlerDefinition } from '../handler.ts';
import { checkMade, codeOf, type MadeBy } from '../../core/lib/input/made-by.ts';
import type { LinksCode } from '../links/outbox-links.ts';
import { type Delivered, OutboxCore } from '../outbox.ts';
import { openIndexedDb } from '../store/disk.ts';
import { databaseName, drain, prepareSync, syncTag } from './background-sync.ts';
import { createOutboxMutation } from './mutation.ts';
import {
  type AnyOutboxHandlers,
  defaultName,
  type Outbox,
  type OutboxConfig,
  type OutboxMutationOptions,
  registerOutbox,
} from './outbox.ts';
import { showUntil } from './view.ts';

const names: readonly (keyof OutboxConfig<AnyOutboxHandlers>)[] = [
  'steady',
  'queryClient',
  'handlers',
  'user',
  'name',
  'parallel',
  'cipher',
  'links',
  'backgroundSync',
  'ports',
];

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
  return make(config).outbox;
}

const linksOf = ({ links }: { readonly links?: MadeBy<'outboxLinks'> | undefined }) =>
  codeOf<LinksCode>(checkMade('createOutbox', 'links', links, 'outboxLinks'));

function checkConfig(config: object): void {
  checkNames('createOutbox', config, names, { client: 'queryClient', mutations: 'handlers' });
  const { handlers } = config as { readonly handlers: unknown };
  if (Array.isArray(handlers) || Object.keys(Object(handlers) as object).length === 0)
    reject('createOutbox', 'handlers', handlers, 'an object with a handler for each name');
  const links = linksOf(config);
  for (const [name, handler] of Object.entries(handlers as AnyOutboxHandlers))
    if (handler.coalesce && !links?.merge)
      reject(
        'createOutbox',
        `handlers.${name}.coalesce`,
        handler.coalesce,
        'left out, or links: outboxLinks({ coalesce: coalesceUnsent() })',
      );
  if (typeof structuredClone === 'undefined')
    throw new Error(
      `createOutbox: structuredClone is missing here, and must be there: see ${pageOf('react-native.md')}.`,
    );
}

function checkValues({ parallel = 4, user = 'none' }: OutboxConfig<AnyOutboxHandlers>): void {
  const rejectValue = (name: string, value: unknown, allowed: DevelopmentText): never =>
    reject('createOutbox', name, value, allowed);
  if (!Number.isSafeInteger(parallel) || parallel < 1)
    rejectValue(
      'parallel',
      parallel,
      inDevelopment(() => 'a whole number from 1'),
    );
  if (typeof user !== 'string' || !user)
    rejectValue(
      'user',
      user,
      inDevelopment(() => 'a text that is not empty'),
    );
}

function createCore<H extends AnyOutboxHandlers>(
  config: OutboxConfig<H>,
  instance: Instance,
  name: string,
  definitions: ReadonlyMap<string, HandlerDefinition>,
  onStale: (delivered: Delivered, loaded: Promise<unknown>) => void,
): OutboxCore {
  const { steady, queryClient: client, handlers, cipher, parallel = 4 } = config;
  // Times on the disk are those of the clock on the wall, which all tabs share.
  const clock = instance.wall;
  return new OutboxCore({
    clock,
    sender: { ...instance, fetch: steady.fetch },
    network: instance.network,
    ports: config.ports ?? browserPorts(),
    name,
    handlers: definitions,
    cipher,
    links: linksOf(config),
    parallel,
    open: (listener) => openIndexedDb(name, clock, listener),
    onLeft: config.backgroundSync ? prepareSync(name) : () => {},
    onDelivered(entry) {
      const { handler, ...delivered } = entry;
      const { invalidates = [], onDelivered } = handlers[handler] ?? {};
      if (!client) return;
      const loads = invalidates.map((queryKey) => client.invalidateQueries({ queryKey }));
      if (loads[0]) onStale(entry, Promise.all(loads));
      onDelivered?.({ ...delivered, client });
    },
  });
}

/** Without a receipt, as after a reload, a result is stored for the page that has submitted it. */
function followEntry({ entries, display }: OutboxCore, ...[key, onDone]: Follow): () => void {
  const read = async (): Promise<void> => {
    const entry = await entries.find(key);
    if (entry?.state === 'done') onDone(entry.data);
  };
  const begin = (): void => void read().catch(() => {});
  begin();
  return display.onChange(begin);
}
type Follow = Parameters<NonNullable<MutationDefinition['follow']>>;

/** The same with what sends its entries. */
function make<const H extends AnyOutboxHandlers>(
  config: OutboxConfig<H>,
): Pick<OutboxCore, 'engine'> & { readonly clock: Clock; readonly outbox: Outbox<H> } {
  inDevelopment(() => checkConfig(config));
  const { steady, queryClient: client, user, name = defaultName } = config;
  const instance =
    instanceBehind((steady as Partial<typeof steady> | undefined)?.defaultOptions?.queries.retry) ??
    reject('createOutbox', 'steady', steady, whatIsMade(steady));
  checkValues(config);
  const handlers = defineHandlers(config.handlers, instance.policy);
  const core = createCore(
    config,
    instance,
    databaseName(name, user),
    handlers,
    (delivered, loaded) => void showUntil(outbox as unknown as Outbox, delivered, loaded),
  );
  const { display, entries, edit, discard, clear } = core;
  const { list, find, retry, retryAll } = entries;
  const { getState, onChange } = display;
  let markUsed: (() => void) | undefined;
  const submit: OutboxCore['submit'] = (...given) => {
    inDevelopment(() => markUsed?.());
    return core.submit(...given);
  };
  const actions = { list, find, retry, retryAll, edit, discard, clear };
  const outbox = {
    ...actions,
    getState,
    onChange,
    subscribe(listener: () => void) {
      inDevelopment(() => markUsed?.());
      return display.subscribe(listener);
    },
    mutationOptions(handler: string, options: OutboxMutationOptions<unknown, unknown, unknown>) {
      const { own, policy } = definitionOf('outbox.mutationOptions', handlers, handler);
      const follow = (...given: Follow) => followEntry(core, ...given);
      const definition = { policy, instance, follow };
      const parts = { clock: instance.clock, handler, own, definition };
      const mutationFn = createOutboxMutation({ submit, retry, discard }, parts);
      return { ...options, mutationFn, retry: false, networkMode: 'always' };
    },
    submit: (handler: string, variables: unknown) =>
      submit(handler, variables, bornNow(instance.clock)),
    dispose() {
      inDevelopment(() => forgetMade(outbox));
      core.dispose();
      instance.cleared.delete(clear);
      forget?.();
    },
  };
  instance.cleared.add(clear);
  if (client) instance.lifecycle.meet(client);
  const forget = client && registerOutbox(client, outbox as unknown as Outbox);
  inDevelopment(() => replaceEarlier(outbox, (act) => (markUsed = act)));
  return { outbox: outbox as unknown as Outbox<H>, engine: core.engine, clock: instance.wall };
}

/** A sync event, which TypeScript's library does not have. */
interface SyncEvent extends Event {
  readonly tag: string;
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/** An outbox in a service worker has no QueryClient, and no other ports. */
export type WorkerOutboxConfig<H extends AnyOutboxHandlers> = Omit<
  OutboxConfig<H>,
  'queryClient' | 'ports' | 'backgroundSync'
>;

/**
 * In a service worker: delivers what the pages have left, when the browser says that the network is
 * there (Background Sync: Chromium). Entries of pages that live are theirs. The pages ask for it with
 * `createOutbox({ backgroundSync: true })`, and both have the same handlers.
 *
 * @param config As of `createOutbox`; or a function, where it must be found out first who is logged in.
 *   Undefined from it means that no user is.
 *
 * @example
 * ```ts
 * // sw.ts
 * deliverOnSync({ steady: createSteadfetch(), handlers });
 * ```
 */
export function deliverOnSync<const H extends AnyOutboxHandlers>(
  config:
    | WorkerOutboxConfig<H>
    | (() => WorkerOutboxConfig<H> | undefined | Promise<WorkerOutboxConfig<H> | undefined>),
): void {
  const deliver = async (tag: string): Promise<void> => {
    const known = typeof config === 'function' ? await config() : config;
    if (!known || tag !== syncTag(databaseName(known.name ?? defaultName, known.user))) return;
    const { outbox, engine: open, clock } = make(known);
    try {
      const engine = await open();
      // The browser asks again later when it is told that something is left.
      if (engine && (await drain(clock, engine)))
        throw new Error('The outbox has entries to send later.');
    } finally {
      outbox.dispose();
    }
  };
  addEventListener('sync', (event) => {
    const { tag, waitUntil } = event as SyncEvent;
    if (tag.startsWith(syncTag(''))) waitUntil.call(event, deliver(tag));
  });
}
