import type { Codec } from '../codec.ts';
import type { HandlerDefinition } from '../handler.ts';
import type { RowLinks } from '../store/linked.ts';
import type { Row } from '../store/row.ts';
import type { Backend } from '../store/schema.ts';

/** The references in the variables of an entry. */
export interface EntryLinks {
  readonly rows: RowLinks;
  /** The fields of an entry with these variables. */
  readonly begin: (
    definition: HandlerDefinition,
    variables: unknown,
  ) => Pick<Row, 'parents' | 'thing'>;
  /** The variables with all answers. Rejects where one is missing. */
  readonly fill: (
    variables: unknown,
    entry: Row,
    codec: Codec,
    read: Backend['read'],
  ) => Promise<unknown>;
}
