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
  /** Called with each stored entry. Another press may have stored it before. */
  readonly onKept: (entry: Row, isDurable: boolean) => Promise<void>;
}

/** Stores submissions one after the other, in their order. */
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
   * Resolves when all earlier submissions are stored, or could not be stored. Later submissions are stored after `work`,
   * too.
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
      // If its row is missing, it is unknown how much of it was sent.
      isRestored: wasSent,
      scope,
      blocks: scope,
      ...links?.begin(definition, variables),
    } as const;
    const closing = codec.encode(operation, variables);
    // The rejection is handled when its turn comes.
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
      // The user has discarded it meanwhile.
      await discard(id);
      throw discarded(entry);
    }
    // The entry was stored already, under the key of an edit.
    if (kept.id !== id) receipts.rename(id, kept.id, kept);
    receipts.save(kept.id, isDurable);
    if (!this.#isOver) await onKept(kept, isDurable);
    return { isDurable };
  }
}

/** Records that an entry could not be stored, so none of it is sent. */
function recordUnkept(error: unknown): void {
  reportFailure(error, { failure: failures.invalid });
}

/** @throws TypeError if variables refer to an answer, because only an outbox with links fills it in. */
function refuseReferences(operation: string, variables: unknown): void {
  if (keysIn(variables).length > 0)
    reject(
      operation,
      'variables',
      'answerOf',
      'without answerOf, unless createOutbox has links: outboxLinks()',
    );
}
