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
  readonly #known: Map<number, SlimRow> = new Map();

  constructor(store: IDBObjectStore, run: <T>(begin: () => IDBRequest<T>) => Promise<T>) {
    this.#store = store;
    this.#run = run;
  }

  /** Reads the fields of a row that are apart. */
  async join(slim: SlimRow): Promise<Row> {
    const { apart = [], ...row } = slim;
    for (const field of apart)
      Object.assign(row, { [field]: await this.#run(() => this.#store.get([row.seq, field])) });
    this.#known.set(row.seq, { ...row, apart });
    return row;
  }

  /** Begins to write the large fields that have changed. @returns the row without them, and these writes. */
  split(row: Row): { readonly slim: SlimRow; readonly written: readonly Promise<unknown>[] } {
    const { seq } = row;
    const known = this.#known.get(seq);
    const before: readonly Field[] = known ? (known.apart ?? []) : fields;
    const changed = fields.filter((field) => !known || known[field] !== row[field]);
    const apart = fields.filter((field) =>
      changed.includes(field) ? isLarge(row[field]) : before.includes(field),
    );
    const written = changed
      .filter((field) => apart.includes(field) || before.includes(field))
      .map((field) =>
        this.#run<unknown>(() => {
          const key = [seq, field];
          const write = apart.includes(field)
            ? this.#store.put(row[field], key)
            : this.#store.delete(key);
          return write as IDBRequest;
        }),
      );
    this.#known.set(seq, { ...row, apart });
    return { slim: slimDown(row, apart), written };
  }

  /** Forgets the large fields of a row. */
  remove(seq: number): readonly Promise<unknown>[] {
    const { apart = fields } = this.#known.get(seq) ?? {};
    return apart.map((field) => this.#run(() => this.#store.delete([seq, field])));
  }
}

/** All keys of a row. */
export const rangeOf = (seq: number): IDBKeyRange => IDBKeyRange.bound([seq], [seq, []]);

/** The large fields of a new row, which has no place yet. */
export const largeOf = (row: NewRow): readonly Field[] =>
  fields.filter((field) => isLarge(row[field]));

export const slimDown = <R extends NewRow | Row>(row: R, apart: readonly Field[]): R =>
  apart.reduce<R>((slim, field) => ({ ...slim, apart, [field]: undefined }), row);

function isLarge(value: unknown): boolean {
  let size = 0;
  // Parts are added while it is read. Each is read once, so that a cycle ends.
  const parts = new Set([value]);
  for (const part of parts) {
    const { byteLength = 1 } = Object(part);
    size += typeof part === 'string' ? part.length : part instanceof Blob ? part.size : byteLength;
    if (size > mostInRow) return true;
    if (typeof part !== 'object' || part === null || byteLength > 1) continue;
    const list = Symbol.iterator in part ? (part as Iterable<unknown>) : Object.values(part);
    for (const one of list) parts.add(one);
  }
  return false;
}
