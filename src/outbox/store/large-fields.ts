import type { NewRow, Row } from './row.ts';

const fields = ['variables', 'steps'] as const;
type Field = (typeof fields)[number];

/** A row as it is in its store: without the fields that are apart. */
export type SlimRow = Row & { readonly apart?: readonly Field[] | undefined };

/** A field that is larger than this, in characters or bytes, is stored apart. */
const mostInRow = 20_000;

/**
 * The large fields of rows, such as photos, in one transaction. They have a store of their own, because a browser writes
 * the whole record with each change: a photo of 20 MB took 125 MB more of the disk with each attempt, until the page was
 * closed.
 */
export class LargeFields {
  readonly #store: IDBObjectStore;
  readonly #run: <T>(begin: () => IDBRequest<T>) => Promise<T>;
  /** The rows as they are on the disk, as far as this transaction knows. */
  readonly #known: Map<number, { readonly row: Row; readonly apart: readonly Field[] }> = new Map();

  constructor(store: IDBObjectStore, run: <T>(begin: () => IDBRequest<T>) => Promise<T>) {
    this.#store = store;
    this.#run = run;
  }

  /** Reads the fields of a row that are apart. */
  async join({ apart = [], ...slim }: SlimRow): Promise<Row> {
    const { seq } = slim;
    const read = apart.map(async (field) => [
      field,
      await this.#run(() => this.#store.get([seq, field])),
    ]);
    const row = { ...slim, ...Object.fromEntries(await Promise.all(read)) } as Row;
    this.#known.set(seq, { row, apart });
    return row;
  }

  /** Begins to write the large fields that have changed. @returns the row without them, and the end of these writes. */
  split(row: Row): { readonly slim: SlimRow; readonly written: Promise<unknown> } {
    const { seq } = row;
    const known = this.#known.get(seq);
    const written = known ? [] : [this.remove(seq)];
    const apart: Field[] = [];
    for (const field of fields) {
      const value = row[field];
      const isSame = !!known && known.row[field] === value;
      const wasApart = !!known?.apart.includes(field);
      if (isSame ? wasApart : isLarge(value)) apart.push(field);
      if (isSame) continue;
      const key = [seq, field];
      if (apart.includes(field)) written.push(this.#run(() => this.#store.put(value, key)));
      else if (wasApart) written.push(this.#run(() => this.#store.delete(key)));
    }
    this.#known.set(seq, { row, apart });
    return { slim: slimDown(row, apart), written: Promise.all(written) };
  }

  /** Forgets the large fields of a row. */
  remove(seq: number): Promise<unknown> {
    const isNone = this.#known.get(seq)?.apart.length === 0;
    return isNone ? Promise.resolve() : this.#run(() => this.#store.delete(rangeOf(seq)));
  }

  clear(): Promise<unknown> {
    return this.#run(() => this.#store.clear());
  }
}

/** All keys of a row. */
export const rangeOf = (seq: number): IDBKeyRange => IDBKeyRange.bound([seq], [seq, []]);

/** The large fields of a new row, which has no place yet. */
export const largeOf = (row: NewRow): readonly Field[] =>
  fields.filter((field) => isLarge(row[field]));

export function slimDown<R extends NewRow | Row>(row: R, apart: readonly Field[]): R {
  if (apart.length === 0) return row;
  return { ...row, ...Object.fromEntries(apart.map((field) => [field, undefined])), apart };
}

function isLarge(value: unknown): boolean {
  const seen = new Set<unknown>();
  let size = 0;
  const weigh = (part: unknown): void => {
    if (typeof part === 'string') size += part.length;
    if (typeof part !== 'object' || part === null || seen.has(part)) return;
    seen.add(part);
    if (part instanceof Blob) size += part.size;
    else if (part instanceof ArrayBuffer || ArrayBuffer.isView(part)) size += part.byteLength;
    else {
      const parts = part instanceof Map || part instanceof Set ? [...part] : Object.values(part);
      for (const one of parts) if (size <= mostInRow) weigh(one);
      size += parts.length;
    }
  };
  weigh(value);
  return size > mostInRow;
}
