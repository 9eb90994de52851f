import {
  createIdempotencyKey,
  failures,
  isSteadfetchError,
  reportFailure,
} from '../core/internal.ts';
import { reject } from '../core/lib/input/check.ts';
import type { OutboxPage } from './delivery/page.ts';
import { discarded, disposedOf } from './errors.ts';
import { definitionOf, scopeOf } from './handler.ts';
import { keysIn } from './links/answer-of.ts';
import type { OnProgress, Receipt } from './receipts.ts';
import { isInPage } from './store/memory.ts';
import { laneOf, type Row, type Unplaced, untried } from './store/row.ts';

interface GivenSubmission {
  readonly key: string;
  readonly createdAt: number;
  readonly aheadMs?: number | undefined;
  readonly wasSent?: boolean | undefined;
}

interface Submitted {
  readonly idempotencyKey: string;
  readonly saved: Promise<{ readonly isDurable: boolean }>;
  readonly delivered: Promise<unknown>;
}

interface Keeper {
  readonly add: (entry: Unplaced, isWanted: () => boolean) => Promise<Row>;
  readonly discard: (id: string) => Promise<unknown>;
  /** Is told of each entry that is kept, as it is there; another press may have been first. */
  readonly onKept: (entry: Row, isDurable: boolean) => Promise<void>;
}

/** Keeps what is submitted, one after the other in the order in which it was. */
export class Enqueuer {
  readonly #page: OutboxPage;
  readonly #keeper: Keeper;
  #turn: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(page: OutboxPage, keeper: Keeper) {
    this.#page = page;
    this.#keeper = keeper;
  }

  submit(
    name: string,
    variables: unknown,
    submission: Partial<GivenSubmission> = {},
    onProgress?: OnProgress,
  ): Submitted {
    try {
      return this.#submit(name, variables, submission, onProgress);
    } catch (error) {
      recordUnkept(error);
      throw error;
    }
  }

  /**
   * Resolves when all that was submitted before is kept, or could not be. What is submitted from here on
   * is kept after `work`, too.
   */
  turn(work?: Promise<unknown>): Promise<unknown> {
    const before = this.#turn;
    this.#turn = Promise.allSettled([before, work]);
    return before;
  }

  close(): void {
    this.#isOver = true;
  }

  #submit(
    name: string,
    variables: unknown,
    submission: Partial<GivenSubmission>,
    onProgress: OnProgress | undefined,
  ): Submitted {
    const { clock, handlers, codec, receipts, links } = this.#page;
    const operation = `outbox '${name}'`;
    if (this.#isOver) throw disposedOf(operation);
    const definition = definitionOf('outbox', handlers, name);
    const nowMs = clock.now();
    const { key: id = createIdempotencyKey(), createdAt = nowMs, aheadMs } = submission;
    const { wasSent = false } = submission;
    const scope = scopeOf(operation, definition, variables);
    if (process.env.NODE_ENV !== 'production' && !links) refuseReferences(operation, variables);
    const entry = {
      ...untried,
      id,
      handler: name,
      lane: laneOf(name),
      version: definition.version,
      createdAt,
      aheadMs,
      state: 'pending',
      isInDoubt: wasSent,
      // Where it is gone, it is unknown how much of it was sent.
      isRestored: wasSent,
      scope,
      blocks: scope,
      ...links?.begin(definition, variables),
    } as const;
    const closing = codec.encode(operation, variables);
    // It is looked at in its turn.
    closing.catch(() => {});
    const known = receipts.begin(entry, onProgress);
    const saved = this.#turn.then(async () => {
      try {
        return await this.#keep(known, { ...entry, variables: await closing });
      } catch (error) {
        if (!receipts.get(id)?.keptIn && !isSteadfetchError(error)) recordUnkept(error);
        if (receipts.isOpen(id, known)) receipts.reject(id, error);
        throw error;
      }
    });
    this.#turn = saved.catch(() => {});
    return { idempotencyKey: id, saved, delivered: known.promise };
  }

  async #keep(known: Receipt, entry: Unplaced): Submitted['saved'] {
    const { receipts } = this.#page;
    const { add, discard, onKept } = this.#keeper;
    const { id } = entry;
    const isWanted = (): boolean => receipts.isOpen(id, known);
    if (!isWanted()) throw discarded(entry);
    const kept = await add(entry, isWanted);
    const isDurable = !isInPage(kept);
    if (!isWanted()) {
      // A user has discarded it meanwhile.
      await discard(id);
      throw discarded(entry);
    }
    // It is there already, under the key that an edit has given it.
    if (kept.id !== id) receipts.rename(id, kept.id, kept);
    receipts.save(kept.id, isDurable);
    if (!this.#isOver) await onKept(kept, isDurable);
    return { isDurable };
  }
}

/** It is kept nowhere, so nothing of it is sent. */
function recordUnkept(error: unknown): void {
  reportFailure(error, { failure: failures.invalid });
}

/** @throws TypeError where variables refer to an answer, which without links is not put in. */
function refuseReferences(operation: string, variables: unknown): void {
  if (keysIn(variables).length > 0)
    reject(
      operation,
      'variables',
      'answerOf',
      'without answerOf, unless createOutbox has links: outboxLinks()',
    );
}
