import { shown } from '../lib/input/url.ts';
import { warn } from '../lib/input/warn.ts';
import type { Failure } from '../policy/outcome.ts';

// This whole module is for development.

/** The fields of an operation that are read here. */
interface Attempted {
  readonly attempt: number;
  readonly phase: { readonly kind: string };
  readonly isSingle: boolean;
  readonly route: { readonly at: unknown };
}

/** The attempts of an operation. */
interface Attempts {
  readonly attempt: number;
  /** The failed requests of this attempt, each with whether a retry loop would send it again. */
  readonly failed: Map<string, boolean>;
  /** The request that was sent again within this attempt. */
  loop?: string | undefined;
  /** Another client sent it, with a signal that is not a query's. */
  hasForeignSignal?: boolean;
  /** The requests without an operation that were sent since it began. */
  strays?: Map<string, Attempted>;
}

const records = new WeakMap<Attempted, Attempts>();

function recordOf(operation: Attempted): Attempts {
  const { attempt } = operation;
  let record = records.get(operation);
  if (record?.attempt !== attempt)
    records.set(operation, (record = { ...record, attempt, failed: new Map(), loop: undefined }));
  return record;
}

/** Records that a request of the current attempt failed. */
export function recordFailedRequest(operation: Attempted, name: string, failure: Failure): void {
  recordOf(operation).failed.set(name, isRetriedByLoops(failure));
}

/**
 * Whether clients' retry loops retry this failure. A request sent again after any other failure has a reason:
 * new credentials after a 401, a new version after a 412.
 */
function isRetriedByLoops(failure: Failure): boolean {
  const { kind } = failure;
  if (kind !== 'http') return kind === 'network' || kind === 'timeout' || kind === 'body';
  const { status, retryAfterMs } = failure;
  return [408, 425, 429].includes(status) || status >= 500 || (status === 413 && !!retryAfterMs);
}

/** Whether a request of the current attempt failed. */
export function hasFailed(operation: Attempted): boolean {
  return recordOf(operation).failed.size > 0;
}

/** Whether another client sent a request of it, with a signal that is not a query's. */
export function hasForeignSignal(operation: Attempted): boolean {
  return !!recordOf(operation).hasForeignSignal;
}

interface Sent {
  readonly operation: Attempted;
  readonly name: string;
  readonly isRaw: boolean;
}

/** For each instance, the operation whose attempt began last. */
const latest = new WeakMap<object, Attempted>();

/** Records that an attempt begins: requests without an operation may be its own. */
export function startAttempt(instance: object, operation: Attempted): void {
  recordOf(operation).strays = new Map();
  latest.set(instance, operation);
}

/**
 * Records that a request is sent, possibly one that already failed within this attempt. A client with a
 * signal of its own hides which operation its requests belong to: such a read is counted for the running
 * attempt that has sent no known request.
 */
export function recordRequest(
  instance: object,
  { operation, name, isRaw }: Sent,
  signal: AbortSignal | undefined,
): void {
  const own = recordOf(operation);
  if (isRaw && signal) own.hasForeignSignal = true;
  if (!operation.isSingle) {
    if (own.failed.get(name)) own.loop = name;
    return;
  }
  const begun = latest.get(instance);
  const isOurs = begun?.phase.kind === 'sending' && !begun.route.at;
  if (!isOurs || !/^(?:GET|HEAD) /.test(name)) return;
  const attempt = recordOf(begun);
  const before = attempt.strays?.get(name);
  if (before && recordOf(before).failed.get(name)) attempt.loop = name;
  attempt.strays?.set(name, operation);
}

/**
 * A failed read without an operation, sent during the attempt of this one: with a signal of its client
 * (`isForeign`), or without.
 */
export function strayFailure(operation: Attempted, isForeign: boolean): string | undefined {
  const { strays = [] } = recordOf(operation);
  return [...strays].find(
    ([, stray]) => hasFailed(stray) && hasForeignSignal(stray) === isForeign,
  )?.[0];
}

/** Warns of a second retry loop when an attempt ends, because by then an error may name the client. */
export function warnOfLoop(instance: object, operation: Attempted, error?: unknown): void {
  if (operation.isSingle) return;
  const { loop } = recordOf(operation);
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

/** The traces that some clients leave in their errors. */
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

/** How to turn off the retries of the client behind an error, and whether the error shows that they are on. */
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
    // A getter of the app's error threw: nothing is known.
  }
  return {};
}
