import { createIdempotencyKey } from '../idempotency/key.ts';
import { reject } from '../lib/input/check.ts';
import type { Clock } from '../lib/clock.ts';
import { reportFailure } from '../operation/error-info.ts';
import { isSteadfetchError } from '../operation/errors.ts';
import { failures } from '../policy/outcome.ts';
import type { Codec } from './codec.ts';
import { laneOf } from './delivery/due.ts';
import type { Entries } from './entries.ts';
import { discarded, disposedOf } from './errors.ts';
import { type HandlerDefinition, scopeOf } from './handler.ts';
import type { EntryStorage } from './storage.ts';
import type { RowStore } from './store/row-store.ts';
import { type Row, rowSchema, type Unplaced } from './store/schema.ts';
import type { OnProgress, Receipt, Receipts } from './receipts.ts';

/** What is known of a submission that somebody else keeps: a form. */
interface GivenSubmission {
  readonly key: string;
  readonly createdAt: number;
  readonly wasSent?: boolean | undefined;
}

/** What `submit` returns. */
interface Submitted {
  readonly idempotencyKey: string;
  /** Resolves once it is kept; `isDurable` says whether on the disk. */
  readonly saved: Promise<{ readonly isDurable: boolean }>;
  /** Resolves with its result, whichever tab has delivered it. */
  readonly delivered: Promise<unknown>;
}

/** Keeps what is submitted, one after the other in the order in which it was. */
export interface Enqueuer {
  readonly submit: (
    handler: string,
    variables: unknown,
    submission?: Partial<GivenSubmission>,
    onProgress?: OnProgress,
  ) => Submitted;
  /**
   * Keeps once more what was submitted here, and is not there: somebody has deleted the database. What is
   * there may have ended meanwhile: that, `settle` tells.
   */
  readonly restore: (store: RowStore, settle: (id: string) => Promise<void>) => Promise<void>;
  /**
   * Resolves when all that was submitted before is kept, or could not be. What is submitted from here on
   * is kept after `work`, too.
   */
  readonly turn: (work?: Promise<unknown>) => Promise<unknown>;
  /** Nothing more is taken. */
  readonly close: () => void;
}

/** `onKept` is told of each entry that is kept, as it is there; another press may have been first. */
export function createEnqueuer(
  clock: Clock,
  handlers: ReadonlyMap<string, HandlerDefinition>,
  codec: Codec,
  receipts: Receipts,
  storage: Pick<EntryStorage, 'add'>,
  discard: Entries['discard'],
  onKept: (entry: Row, isDurable: boolean) => Promise<void>,
): Enqueuer {
  const tab = createIdempotencyKey();
  let turn: Promise<unknown> = Promise.resolve();
  let isOver = false;

  /** @returns whether it is on the disk. */
  const keep = async (known: Receipt, entry: Unplaced): Promise<boolean> => {
    const { id } = entry;
    const isWanted = (): boolean => receipts.get(id) === known;
    if (!isWanted()) throw discarded(entry);
    known.entry = entry;
    const { entry: added, isDurable } = await storage.add(entry, isWanted);
    if (!isWanted()) {
      // A user has discarded it meanwhile.
      await discard(id);
      throw discarded(entry);
    }
    receipts.save(id, isDurable);
    if (isOver) return isDurable;
    await onKept(added, isDurable);
    return isDurable;
  };

  const prepare = (
    name: string,
    variables: unknown,
    { key: id = createIdempotencyKey(), createdAt, wasSent = false }: Partial<GivenSubmission>,
  ) => {
    const operation = `outbox '${name}'`;
    if (isOver) throw disposedOf(operation);
    const definition =
      handlers.get(name) ??
      reject(
        'outbox',
        'handler',
        name,
        process.env.NODE_ENV !== 'production' && `one of ${[...handlers.keys()].join(', ')}`,
      );
    const nowMs = clock.now();
    const scope = scopeOf(operation, definition, variables);
    const entry = {
      id,
      schema: rowSchema,
      handler: name,
      lane: laneOf(name),
      version: definition.version,
      createdAt: createdAt ?? nowMs,
      submitter: tab,
      state: 'pending',
      nextRetryAt: nowMs,
      plannedAt: nowMs,
      attempts: 0,
      isInDoubt: wasSent,
      // Where it is not there any more, nobody knows what was sent of it.
      ...(wasSent && { isRestored: true }),
      ...(scope !== undefined && { scope, blocks: scope }),
    } as const;
    const closing = codec.encode(operation, variables);
    // It is looked at in its turn.
    closing.catch(() => {});
    return { entry, closing };
  };

  return {
    submit(name, variables, submission = {}, onProgress) {
      try {
        const { entry, closing } = prepare(name, variables, submission);
        const { id } = entry;
        const known = receipts.begin(entry, onProgress);
        const saved = turn.then(async () => {
          try {
            return { isDurable: await keep(known, { ...entry, variables: await closing }) };
          } catch (error) {
            if (!known.isKept && !isSteadfetchError(error)) noteUnkept(error);
            if (receipts.get(id) === known) receipts.reject(id, error);
            throw error;
          }
        });
        turn = saved.catch(() => {});
        return { idempotencyKey: id, saved, delivered: known.promise };
      } catch (error) {
        noteUnkept(error);
        throw error;
      }
    },
    async restore(store, settle) {
      for (const [id, known] of receipts.all()) {
        const { entry, isSaved } = known;
        if (!isSaved) continue;
        // What another tab has edited is known to the disk alone.
        if (!entry || (await store.find(id))) await settle(id);
        else await keep(known, { ...entry, isInDoubt: true, isRestored: true }).catch(() => {});
      }
    },
    turn(work) {
      const before = turn;
      turn = Promise.allSettled([turn, work]);
      return before;
    },
    close() {
      isOver = true;
    },
  };
}

/** It is kept nowhere, so nothing of it is sent. */
function noteUnkept(error: unknown): void {
  reportFailure(error, { failure: failures.invalid });
}
