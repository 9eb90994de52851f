/** Settles as a request does. */
export function ask<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error as DOMException));
  });
}

/** Calls `visit` with each place that the cursor comes to, until it returns true or the cursor is through. */
export function walk<C extends IDBCursor>(
  request: IDBRequest<C | null>,
  visit: (cursor: C) => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => {
      const cursor = request.result;
      if (!cursor || visit(cursor)) resolve();
    });
    request.addEventListener('error', () => reject(request.error as DOMException));
  });
}

/** Resolves once all that was written is there. */
export function complete(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () =>
      reject(transaction.error ?? new DOMException('The transaction was aborted.', 'AbortError')),
    );
  });
}
