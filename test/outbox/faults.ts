/** A request to the browser's database that may go wrong. */
export type Request =
  | 'open'
  | 'transaction'
  | 'get'
  | 'getAll'
  | 'add'
  | 'put'
  | 'delete'
  | 'cursor'
  | 'commit';
export const requests: readonly Request[] = [
  'open',
  'transaction',
  'get',
  'getAll',
  'add',
  'put',
  'delete',
  'cursor',
  'commit',
];

/** The names of the DOMExceptions that a database may have. */
export const names = [
  'AbortError',
  'ConstraintError',
  'DataCloneError',
  'DataError',
  'InvalidStateError',
  'NotFoundError',
  'NotReadableError',
  'OperationError',
  'QuotaExceededError',
  'ReadOnlyError',
  'SecurityError',
  'TimeoutError',
  'TransactionInactiveError',
  'UnknownError',
  'VersionError',
] as const;

/** How it goes wrong: by a throw, by an error event, or because nothing is ever said. */
export type Way =
  | { readonly kind: 'throws' | 'fails'; readonly name: string }
  | { readonly kind: 'hangs' };

/** A request that says this later, and nothing more. */
function answering(way: Way): IDBRequest {
  const request = Object.assign(new EventTarget(), { result: undefined, error: null });
  if (way.kind === 'fails')
    setImmediate(() => {
      Object.assign(request, { error: new DOMException('fault', way.name) });
      request.dispatchEvent(new Event('error'));
    });
  return request as unknown as IDBRequest;
}

interface Patch {
  readonly target: object;
  readonly name: string;
  readonly ofDatabase: (self: never) => IDBDatabase | undefined;
}

const storeOf = (self: IDBObjectStore): IDBDatabase => self.transaction.db;
const indexOf = (self: IDBIndex): IDBDatabase => self.objectStore.transaction.db;

function patchesOf(request: Request): readonly Patch[] {
  const store = (name: string): Patch => ({
    target: IDBObjectStore.prototype,
    name,
    ofDatabase: storeOf,
  });
  const index = (name: string): Patch => ({
    target: IDBIndex.prototype,
    name,
    ofDatabase: indexOf,
  });
  const transaction = {
    target: IDBDatabase.prototype,
    name: 'transaction',
    ofDatabase: (self: IDBDatabase) => self,
  };
  switch (request) {
    case 'open':
      return [{ target: IDBFactory.prototype, name: 'open', ofDatabase: () => undefined }];
    case 'transaction':
    case 'commit':
      return [transaction];
    case 'getAll':
      return [store('getAll'), store('getAllKeys'), index('getAll'), index('getAllKeys')];
    case 'cursor':
      return [index('openCursor'), index('openKeyCursor')];
    default:
      return [store(request)];
  }
}

/** A transaction whose commit goes wrong. */
function spoilCommit(native: IDBTransaction, way: Way): void {
  if (way.kind === 'hangs') {
    const listen = native.addEventListener.bind(native);
    native.addEventListener = (type: string, listener: EventListener) => {
      if (type !== 'complete') listen(type, listener);
    };
    return;
  }
  Object.defineProperty(native, 'error', { get: () => new DOMException('fault', way.name) });
  setImmediate(() => {
    try {
      native.abort();
    } catch {
      // It was complete already.
    }
  });
}

/**
 * Makes requests to databases go wrong, of all connections for which `isHit` says so (`undefined` for the
 * opening itself), until the returned function is called.
 */
export function spoil(
  requestsHit: readonly Request[],
  way: Way,
  isHit: (database: IDBDatabase | undefined) => boolean,
): () => void {
  const undo: (() => void)[] = [];
  for (const request of requestsHit)
    for (const { target, name, ofDatabase } of patchesOf(request)) {
      const real = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      const spoilt = function (this: never, ...args: unknown[]): unknown {
        if (!isHit(ofDatabase(this))) return real.apply(this, args);
        if (request === 'commit') {
          const native = real.apply(this, args) as IDBTransaction;
          if (native.mode === 'readwrite') spoilCommit(native, way);
          return native;
        }
        if (way.kind === 'throws') throw new DOMException('fault', way.name);
        // A request of the transaction, so that it does not end while this one is waited for in vain.
        if (way.kind === 'fails' || request !== 'transaction') return answering(way);
        const native = real.apply(this, args) as IDBTransaction;
        spoilCommit(native, way);
        return native;
      };
      Object.defineProperty(target, name, { value: spoilt, configurable: true, writable: true });
      undo.push(() =>
        Object.defineProperty(target, name, { value: real, configurable: true, writable: true }),
      );
    }
  return () => undo.forEach((act) => act());
}
