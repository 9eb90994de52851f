import { shown } from '../lib/input/url.ts';
import { warn } from '../lib/input/warn.ts';
import type { Failure } from '../policy/outcome.ts';

// All of this is for development.

/** What is read of an operation. */
interface Attempted {
  readonly attempt: number;
  readonly phase: { readonly kind: string };
  readonly isSingle: boolean | undefined;
  readonly route: { readonly at: unknown };
}

/** What is known of an operation. */
interface Attempts {
  readonly attempt: number;
  /** The requests of this attempt that have failed, each with whether a retry loop would send it again. */
  readonly failed: Map<string, boolean>;
  /** The one that was sent again within this attempt. */
  loop?: string | undefined;
  /** Another client has sent it, with a signal that is no query's. */
  hasForeignSignal?: boolean;
  /** The requests of no operation that were sent since it began. */
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

/** A request of the present attempt has failed. */
export function recordFailedRequest(operation: Attempted, name: string, failure: Failure): void {
  recordOf(operation).failed.set(name, isRetriedByLoops(failure));
}

/**
 * Whether it is a failure that the retry loops of clients retry. What is sent again after any other one is sent for
 * a reason: with new credentials after a 401, with another version after a 412.
 */
function isRetriedByLoops(failure: Failure): boolean {
  const { kind } = failure;
  if (kind !== 'http') return kind === 'network' || kind === 'timeout' || kind === 'body';
  const { status, retryAfterMs } = failure;
  return [408, 425, 429].includes(status) || status >= 500 || (status === 413 && !!retryAfterMs);
}

/** Whether one has. */
export function hasFailed(operation: Attempted): boolean {
  return recordOf(operation).failed.size > 0;
}

/** Whether another client has sent a request of it, with a signal that is no query's. */
export function hasForeignSignal(operation: Attempted): boolean {
  return !!recordOf(operation).hasForeignSignal;
}

interface Sent {
  readonly operation: Attempted;
  readonly name: string;
  readonly isRaw: boolean;
}

/** The operation whose attempt has begun last, for each instance. */
const latest = new WeakMap<object, Attempted>();

/** An attempt begins: requests of no operation may be its own. */
export function startAttempt(instance: object, operation: Attempted): void {
  recordOf(operation).strays = new Map();
  latest.set(instance, operation);
}

/**
 * A request is sent: perhaps one that has failed, again within one attempt. A client that has a signal of its
 * own hides whose its requests are: such a read belongs to the attempt that has sent nothing known as its own.
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

/** A read of no known operation that has failed in the attempt of this one: with a signal of its client's, or without. */
export function strayFailure(operation: Attempted, isForeign: boolean): string | undefined {
  const { strays = [] } = recordOf(operation);
  return [...strays].find(
    ([, stray]) => hasFailed(stray) && hasForeignSignal(stray) === isForeign,
  )?.[0];
}

/** Tells of a second retry loop at the end of an attempt: by then an error may say whose it is. */
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
