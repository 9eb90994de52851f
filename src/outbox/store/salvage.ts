import type { Clock } from '../../lib/clock.ts';
import { ask, walk } from './open-database.ts';

/** A row that fails for a reason that may pass is tried for so long. */
const patienceMs = 60_000;
/** All rows are read one by one no more often. */
const gapMs = 10_000;
/** Failures that lie so far apart are not one. */
const apartMs = 600_000;

/** Finds the rows that the browser cannot read any more, where an error may be theirs. */
export class Salvage {
  readonly #database: IDBDatabase;
  readonly #clock: Clock;
  readonly #failingSince: Map<number, number> = new Map();
  #triedAt = -Infinity;

  constructor(database: IDBDatabase, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** @returns their places. */
  async findGone(error: unknown): Promise<readonly number[]> {
    const agoMs = this.#clock.now() - this.#triedAt;
    const isEarly = agoMs >= 0 && agoMs < gapMs;
    if (!isSure(error) && (mayPass(error) || isEarly)) return [];
    this.#triedAt = this.#clock.now();
    if (agoMs < 0 || agoMs > apartMs) this.#failingSince.clear();
    const gone: number[] = [];
    const rows = this.#database.transaction('rows').objectStore('rows');
    for (const seq of (await ask(() => rows.getAllKeys())) as number[])
      if (await this.#isGone(seq)) gone.push(seq);
    return gone;
  }

  async #isGone(seq: number): Promise<boolean> {
    try {
      await ask(() => this.#database.transaction('rows').objectStore('rows').get(seq));
      this.#failingSince.delete(seq);
      return false;
    } catch (thrown) {
      const { cause: error } = thrown as Error;
      if (isSure(error)) return true;
      if (mayPass(error)) return false;
      const since = this.#failingSince.get(seq) ?? this.#clock.now();
      this.#failingSince.set(seq, since);
      return this.#clock.now() - since >= patienceMs;
    }
  }

  /** What the indexes know of a row. */
  async known(seq: number): Promise<Readonly<Record<string, unknown>>> {
    const rows = this.#database.transaction('rows').objectStore('rows');
    const known: Record<string, unknown> = {};
    for (const name of rows.indexNames) {
      const index = rows.index(name);
      const paths = [index.keyPath].flat();
      await walk(
        () => index.openKeyCursor(),
        (cursor) => {
          if (cursor.primaryKey !== seq) {
            cursor.continue();
            return false;
          }
          for (const [place, key] of [cursor.key].flat().entries()) known[paths[place] ?? ''] = key;
          return true;
        },
      );
    }
    return known;
  }
}

const nameOf = (error: unknown): string => String(Object(error).name);
/** The standard's name for a record that is there and whose file is gone. */
const isSure = (error: unknown): boolean => nameOf(error) === 'NotReadableError';
/** Chromium says so where only its memory is short; of other browsers it is not known. */
const mayPass = (error: unknown): boolean =>
  String(Object(error).message).includes('Failed to read large IndexedDB value');
