import { shown } from '../lib/input/url.ts';
import { warn } from '../lib/input/warn.ts';

// All of this is for development.

/** What is read and noted of an operation. */
interface Attempted {
  readonly phase: string;
  readonly isSingle: boolean | undefined;
  readonly sent: unknown;
  failedRequests: Set<string> | undefined;
  loop: string | undefined;
  hasForeignSignal: boolean | undefined;
}

/** An attempt that has begun, with the requests of no operation that were sent since. */
interface Begun {
  readonly operation: Attempted;
  readonly strays: Map<string, Attempted>;
}

interface Sent {
  readonly operation: Attempted;
  readonly name: string;
  readonly isRaw: boolean;
}

/** The attempt that has begun last, for each instance. */
const latest = new WeakMap<object, Begun>();

/** The latest attempt of each operation. */
const byOperation = new WeakMap<object, Begun>();

/** An attempt begins: requests that are known as nobody's may be its. */
export function noteAttempt(instance: object, operation: Attempted): void {
  const begun: Begun = { operation, strays: new Map() };
  latest.set(instance, begun);
  byOperation.set(operation, begun);
}

/**
 * Notes a request that has failed and is sent again within one attempt. A client that has a signal of its
 * own hides whose its requests are: such a read belongs to the attempt that has sent nothing known as its own.
 */
export function noteRequest(
  instance: object,
  { operation, name, isRaw }: Sent,
  signal: AbortSignal | undefined,
): void {
  if (isRaw && signal) operation.hasForeignSignal = true;
  if (!operation.isSingle) {
    if (operation.failedRequests?.has(name)) operation.loop = name;
    return;
  }
  const begun = latest.get(instance);
  const isOurs = begun && begun.operation.phase === 'sending' && !begun.operation.sent;
  if (!isOurs || !/^(?:GET|HEAD) /.test(name)) return;
  if (begun.strays.get(name)?.failedRequests) begun.operation.loop = name;
  begun.strays.set(name, operation);
}

/** Whether a read that is known as nobody's, and had no signal, has failed in the attempt of this operation. */
export function hasStrayFailure(operation: object): boolean {
  const strays = byOperation.get(operation)?.strays.values() ?? [];
  return [...strays].some((stray) => stray.failedRequests && !stray.hasForeignSignal);
}

/** Tells of a second retry loop at the end of an attempt: by then an error may say whose it is. */
export function warnOfLoop(instance: object, { isSingle, loop }: Attempted, error?: unknown): void {
  if (isSingle) return;
  const { remedy, isOn = false } = readClient(error);
  if (loop === undefined && !isOn) return;
  const what =
    loop === undefined
      ? 'A client inside an operation retries by itself'
      : `${shown(loop)} is sent again within one attempt of an operation`;
  warn(
    instance,
    'loop',
    `${what}. Two retry loops multiply: three tries in each of two are nine requests. ` +
      `Turn the inner one off: ${remedy ?? remedies}.`,
    'clients.md',
  );
}

const remedies =
  `retry: 0 for ky and ofetch, db: { retry: false } for supabase-js, no axios-retry, no fetch-retry, no ` +
  `retryExchange in urql, no RetryLink in Apollo, no retryLink in tRPC and no retry middleware in wretch`;

/** What some clients leave in their errors. */
interface Marks {
  readonly name?: unknown;
  readonly cause?: unknown;
  readonly config?: { readonly 'axios-retry'?: { readonly retryCount?: number } };
  readonly options?: { readonly retry?: { readonly limit?: number } };
}

const remediesByName: ReadonlyMap<unknown, string> = new Map([
  ['FetchError', 'give ofetch retry: 0'],
  ['PostgrestError', 'give supabase-js db: { retry: false }'],
  ['CombinedError', "remove urql's retryExchange"],
]);

/** How the retries of the client behind an error are turned off, and whether it says that they are on. */
function readClient(error: unknown): { readonly remedy?: string; readonly isOn?: boolean } {
  try {
    let marks = error as Marks | undefined;
    for (let depth = 0; marks && depth < 5; depth++) {
      const { name, cause, config, options } = marks;
      if ((config?.['axios-retry']?.retryCount ?? 0) > 0)
        return { remedy: 'remove axios-retry, or give it retries: 0', isOn: true };
      if ((options?.retry?.limit ?? 0) > 0) return { remedy: 'give ky retry: 0', isOn: true };
      const remedy = remediesByName.get(name);
      if (remedy !== undefined) return { remedy };
      marks = cause as Marks | undefined;
    }
  } catch {
    // Whatever was thrown says nothing of it.
  }
  return {};
}
