import { type NewRow, untried } from '../../src/outbox/store/row.ts';

/** A row that waits, as it is before it has a place. */
export const newRow = (id: string, more: Partial<NewRow> = {}): NewRow =>
  ({
    ...untried,
    id,
    handler: 'order',
    lane: 'order',
    version: 1,
    variables: { sku: id },
    createdAt: 1000,
    state: 'pending',
    owner: 'a',
    nextRetryAt: 1000,
    ...more,
  }) as NewRow;
