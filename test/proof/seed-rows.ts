import { type NewRow, untried } from '../../src/outbox/store/row.ts';

/** Rows that a tab has left when it died, submitted one a millisecond until now. */
export function rowsOfTheDead(count: number, nowMs: number): NewRow[] {
  return Array.from({ length: count }, (_, index) => ({
    ...untried,
    id: crypto.randomUUID(),
    handler: 'order',
    lane: 'order',
    version: 1,
    variables: { no: index + 1, article: 'a lamp' },
    createdAt: nowMs - count + index,
    submitter: 'the dead',
    state: 'pending',
    owner: 'the dead',
    nextRetryAt: nowMs - count + index,
  }));
}

/** Runs in a page: puts them into the database, which another page has laid out. */
export function putRows(rows: readonly NewRow[]): Promise<void> {
  return new Promise((done, fail) => {
    const opening = indexedDB.open('steadfetch-outbox');
    opening.addEventListener('error', () => fail(new Error('not opened')));
    opening.addEventListener('success', () => {
      const transaction = opening.result.transaction(['rows', 'owners'], 'readwrite');
      transaction.objectStore('owners').put({ owner: 'the dead', token: 'of the dead' });
      const store = transaction.objectStore('rows');
      for (const row of rows) store.add(row);
      transaction.addEventListener('abort', () => fail(new Error('not written')));
      transaction.addEventListener('complete', () => {
        opening.result.close();
        done();
      });
    });
  });
}
