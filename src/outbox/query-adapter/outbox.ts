import { inDevelopment } from '../../core/lib/development.ts';
import type { QueryClient, QueryKey, UseMutationOptions } from '@tanstack/react-query';
import { warn } from '../../core/lib/input/warn.ts';
import { createStore, type Readable } from '../../core/lib/store.ts';
import type { Steadfetch, TabPorts } from '../../core/internal.ts';
import type { OutboxCipher } from '../codec.ts';
import type { OutboxEntry, OutboxFilter } from '../entries.ts';
import type { OutboxContext, OutboxHandler } from '../handler.ts';
import type { MadeBy } from '../../core/lib/input/made-by.ts';
import type { OutboxState } from '../state.ts';

/** The argument of `onDelivered`. */
export interface DeliveredEntry<TVariables, TData> {
  readonly idempotencyKey: string;
  /** Undefined in another tab, where they cannot be posted to it. */
  readonly variables: TVariables;
  readonly data: TData;
  /** The QueryClient of this tab. */
  readonly client: QueryClient;
}

/** How entries of one name are delivered, and what the caches are told. */
export interface QueryOutboxHandler<TVariables = never, TData = unknown> extends OutboxHandler<
  TVariables,
  TData
> {
  /** Queries that its delivery makes stale: they are invalidated in every open tab. @default none */
  readonly invalidates?: readonly QueryKey[] | undefined;
  /** Is told of each delivery, once in every open tab that has a QueryClient. @default none */
  readonly onDelivered?:
    | ((delivered: NoInfer<DeliveredEntry<TVariables, TData>>) => void)
    | undefined;
}

/** Of a handler of any kind: a method, whose parameter may be of a narrower type. */
interface AnyListener {
  onDelivered(delivered: DeliveredEntry<unknown, unknown>): void;
}

/**
 * Handlers by name, each with variables of its own. In one that is written out here, what
 * `onDelivered` is told is unknown; in one of `outboxHandler` it is what its mutationFn takes and
 * resolves with.
 */
export type AnyOutboxHandlers = Readonly<
  Record<
    string,
    Omit<QueryOutboxHandler, 'migrate' | 'onDelivered'> & {
      readonly migrate?: ((variables: unknown, version: number) => unknown) | undefined;
      readonly onDelivered?: AnyListener['onDelivered'] | undefined;
    }
  >
>;

/** The variables of a handler. */
export type VariablesOf<H> = H extends {
  readonly mutationFn: (variables: infer V, context: OutboxContext) => unknown;
}
  ? V
  : never;

/** The result of a handler. */
export type DataOf<H> = H extends {
  readonly mutationFn: (variables: never, context: OutboxContext) => Promise<infer D>;
}
  ? D
  : never;

/** The entries of the handler `N`; of one that is not among `H`, the variables are unknown. */
export type EntryOf<H extends AnyOutboxHandlers, N extends string> = string extends keyof H
  ? OutboxEntry
  : N extends keyof H
    ? OutboxEntry<VariablesOf<H[N]>, DataOf<H[N]>>
    : OutboxEntry;

/** Of the database, unless the app has another. */
export const defaultName = 'steadfetch-outbox';

/** The options of `createOutbox`. */
export interface OutboxConfig<H extends AnyOutboxHandlers> {
  /** The instance that sends: its policy, its gates and its network hold for the outbox, too. */
  readonly steady: Steadfetch;
  /** The client whose caches are updated at deliveries, and whose hooks find the outbox. @default none */
  readonly queryClient?: QueryClient | undefined;
  /**
   * The handlers by name. An entry is kept under the name of its handler, so that any tab can deliver it
   * after a reload: a name that is gone makes dead letters, until a later version has it again.
   */
  readonly handlers: H;
  /**
   * The id of the user to whom the entries belong: each user has a database, so that nothing is delivered as
   * another one. @default one for all
   */
  readonly user?: string | undefined;
  /** Of the database. @default 'steadfetch-outbox' */
  readonly name?: string | undefined;
  /**
   * So many attempts at once to one origin in this tab; the concurrency limit of an origin comes on top. Of entries that
   * were never tried, it is taken to be where the last of their handler went. @default 4
   */
  readonly parallel?: number | undefined;
  /** Lets entries refer to the answers of others, and be merged with them: `outboxLinks()`. @default none */
  readonly links?: MadeBy<'outboxLinks'> | undefined;
  /** Makes variables and results unreadable on the disk. @default none */
  readonly cipher?: OutboxCipher | undefined;
  /**
   * Asks the browser to wake the app's service worker once the network is there, when this page may be
   * gone (Chromium only). The worker delivers with `deliverOnSync`. @default false
   */
  readonly backgroundSync?: boolean | undefined;
  /** The connection between the tabs. @default BroadcastChannel, Web Locks and the page's life */
  readonly ports?: TabPorts | undefined;
}

/** React Query's options for a mutation whose submissions are kept. */
export type OutboxMutationOptions<TData, TVariables, TOnMutateResult> = Omit<
  UseMutationOptions<TData, Error, TVariables, TOnMutateResult>,
  'mutationFn' | 'retry' | 'retryDelay' | 'networkMode' | 'scope'
>;

/** Submissions that are kept on the disk until they are delivered. */
export interface Outbox<
  H extends AnyOutboxHandlers = AnyOutboxHandlers,
> extends Readable<OutboxState> {
  /**
   * React Query's options of a mutation that writes its variables to the disk before the first byte is
   * sent, and settles when the entry is delivered, is a dead letter or is discarded, whichever tab has
   * done it.
   *
   * @throws TypeError when there is no handler of this name.
   *
   * @example
   * ```ts
   * const { mutate } = useMutation(outbox.mutationOptions('placeOrder'));
   * ```
   */
  readonly mutationOptions: <N extends keyof H & string, TOnMutateResult = unknown>(
    handler: N,
    options?: OutboxMutationOptions<DataOf<H[N]>, VariablesOf<H[N]>, TOnMutateResult>,
  ) => UseMutationOptions<DataOf<H[N]>, Error, VariablesOf<H[N]>, TOnMutateResult>;
  /**
   * The same outside React: `saved` resolves once it is kept, `delivered` once it has arrived.
   *
   * @throws TypeError when there is no handler of this name, or its variables cannot be stored.
   */
  readonly submit: <N extends keyof H & string>(
    handler: N,
    variables: VariablesOf<H[N]>,
  ) => {
    readonly idempotencyKey: string;
    readonly saved: Promise<{ readonly isDurable: boolean }>;
    readonly delivered: Promise<DataOf<H[N]>>;
  };
  /**
   * The entries, the oldest first. Those of one handler are of its types, those of all are not known
   * to be of any: there may be some of an earlier version of the app, whose handler is gone.
   */
  readonly list: <N extends string = string>(
    filter?: OutboxFilter<N>,
  ) => Promise<readonly EntryOf<H, N>[]>;
  /**
   * The entry with this key, or that had it before it was edited or sent again under a new one; undefined once it is
   * delivered and its submitter has the result.
   *
   * @throws Error (as a rejection), as `retry`, `edit` and `discard` do, while the entry may be on a
   *   disk that cannot be read.
   */
  readonly find: (idempotencyKey: string) => Promise<OutboxEntry | undefined>;
  /**
   * Sends an entry now, from this tab: one that waits, whichever tab had it, or a dead letter. Under the same
   * key as long as it may have been done and its key can tell; what was surely refused gets a new one. So does
   * one that is `expired`, `age-unknown` or `cannot-find-out`: it may then be done twice, so let the user decide.
   * An entry whose attempt is under way stays where it is: `sentBy` of the entry says whether in this tab.
   *
   * @returns the key by which it goes now; undefined when there is no such entry.
   */
  readonly retry: (idempotencyKey: string) => Promise<string | undefined>;
  /**
   * The same for all dead letters, but what may have been done keeps its key: so many a user does not look at. One that is
   * `superseded` stays: it would undo a later change.
   */
  readonly retryAll: () => Promise<void>;
  /**
   * Sends an entry with other variables, under a new key. Where it may have been done already, it may
   * be done twice: `processed` says so. `retry`, `edit` and `discard` know it by the key from before, too.
   *
   * @returns the new key; undefined when there is no such entry, it is being sent, or it may have been done since the
   *   call, because a cipher takes its time.
   */
  readonly edit: (idempotencyKey: string, variables: unknown) => Promise<string | undefined>;
  /** Forgets an entry. What is under way is broken off. @returns whether there was one. */
  readonly discard: (idempotencyKey: string) => Promise<boolean>;
  /**
   * Forgets all entries, in all tabs. From the call on, nothing of them is sent, also by the next page. For a
   * log-out, `steady.endSession()` does it, with all else of the instance.
   *
   * @throws Error (as a rejection) when they are still on the disk, because the database does not work.
   *   They are removed as soon as it does.
   */
  readonly clear: () => Promise<void>;
  /** Calls the listener when entries may have changed, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void;
  /**
   * Stops this tab's part of it. What is kept stays, for other tabs or the next page, and what was just
   * submitted is still kept. A clear that is under way is done.
   */
  readonly dispose: () => void;
}

/**
 * Gives a handler back as it is, with all its types from its mutationFn: `scope`, `migrate` and
 * `onDelivered` need none of their own. The mutationFn comes first, because TypeScript reads from the
 * top.
 *
 * @example
 * ```ts
 * const placeOrder = outboxHandler({
 *   mutationFn: (order: { sku: string }, { json }) =>
 *     json<{ id: string }>('/api/orders', { json: order }),
 *   scope: (order) => order.sku,
 *   onDelivered: ({ client, data }) => client.setQueryData(['orders', data.id], data),
 * });
 * const outbox = createOutbox({ steady, queryClient, handlers: { placeOrder } });
 * ```
 */
export function outboxHandler<TVariables = void, TData = unknown>(
  handler: QueryOutboxHandler<TVariables, TData>,
): QueryOutboxHandler<TVariables, TData> {
  return handler;
}

/** Which outbox a QueryClient has. */
interface Registry {
  readonly outboxes: WeakMap<QueryClient, Outbox>;
}

const outboxes: Registry['outboxes'] = /* @__PURE__ */ new WeakMap();
const registry = /* @__PURE__ */ createStore<Registry>({ outboxes });

/** Another object whenever a QueryClient has got or lost its outbox. */
export const outboxRegistry: Readable<Registry> = registry;

/** Not at once: a component may make its outbox while it renders, when React lets no other be updated. */
const recordChange = (): void => queueMicrotask(() => registry.set({ outboxes }));

/** Makes it the outbox of a QueryClient, until the returned function is called. */
export function registerOutbox(client: QueryClient, outbox: Outbox): () => void {
  const isFirst = !outboxes.has(client);
  outboxes.set(client, outbox);
  // The one before it is shown until it is disposed of: a component that makes one in each render is not rendered for ever.
  if (isFirst) recordChange();
  return () => {
    if (outboxes.get(client) === outbox) outboxes.delete(client);
    recordChange();
  };
}

/** The one that was made for it. */
export const outboxOf = (client: QueryClient): Outbox | undefined => outboxes.get(client);

/** The outbox of a client; undefined where it has none, as in tests and stories. In development a warning says so. */
export function findOutbox(
  { outboxes: all }: Registry,
  client: QueryClient,
  operation: string,
): Outbox | undefined {
  const outbox = all.get(client);
  if (process.env.NODE_ENV !== 'production' && !outbox) {
    const message = `${missingOutbox(operation)} Until then it shows nothing.`;
    warn(client, 'no outbox', message, 'outbox.md#usage');
  }
  return outbox;
}

/** The message about a client without one. */
export function missingOutbox(operation: string): string {
  const remedy = inDevelopment(
    () => ' Make one at start-up: createOutbox({ steady, queryClient, handlers }).',
  );
  return `${operation}: this QueryClient has no outbox.${remedy || ''}`;
}
