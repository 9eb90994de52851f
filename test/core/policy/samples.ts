import {
  decide,
  type Decision,
  type Failure,
  type OperationFacts,
  type Policy,
  presets,
  type Processed,
} from 'steadfetch';

/** Saturday, 21 November 2026, 00:00:00 UTC. */
export const nowMs = 1_795_219_200_000;

/** The largest number below 1: the most that a draw can be. */
export const almostOne = 0.9999999999999999;

/** RFC 9110 §9.2.2, and QUERY by its draft. PURGE stands for every method that is not known. */
export const methods = {
  GET: 'idempotent',
  HEAD: 'idempotent',
  OPTIONS: 'idempotent',
  QUERY: 'idempotent',
  PUT: 'idempotent',
  DELETE: 'idempotent',
  POST: 'not idempotent',
  PATCH: 'not idempotent',
  PURGE: 'not idempotent',
} as const;

export type Method = keyof typeof methods;

/** A GET whose first attempt has just failed, unless said otherwise. */
export function anOperation({
  method = 'GET',
  ...rest
}: Partial<OperationFacts> & { readonly method?: Method } = {}): OperationFacts {
  return {
    id: 1,
    kind: 'call',
    method,
    url: 'https://api.example/things',
    attempt: 1,
    startedAt: nowMs,
    pausedMs: 0,
    keyed: false,
    idempotent: methods[method] === 'idempotent',
    retriedFor: [],
    previousBackoffMs: undefined,
    ...rest,
  };
}

/** Every kind of operation that the table tells apart, by name: each method with and without a key. */
export const operations: Readonly<Record<string, OperationFacts>> = Object.fromEntries(
  (Object.keys(methods) as Method[]).flatMap((method) => [
    [method, anOperation({ method })],
    [`${method} with key`, anOperation({ method, keyed: true })],
  ]),
);

/** An answer outside 2xx. */
export function answered(
  status: number,
  {
    retryAfterMs,
    inProgress = false,
    processed = 'unknown',
  }: { retryAfterMs?: number; inProgress?: boolean; processed?: Processed } = {},
): Failure {
  return { kind: 'http', status, retryAfterMs, inProgress, processed };
}

export const network: Failure = { kind: 'network', processed: 'unknown' };

interface Circumstances {
  readonly policy?: Partial<Policy> | undefined;
  /** What every draw gives. @default 0.5 */
  readonly u?: number;
  readonly atMs?: number;
}

/** The decision on a failure, by the interactive preset unless said otherwise. */
export function decideOn(
  failure: Failure,
  operation: OperationFacts = anOperation(),
  { policy, u = 0.5, atMs = nowMs }: Circumstances = {},
): Decision {
  const context = { nowMs: atMs, random: () => u };
  return decide(failure, operation, { ...presets.interactive, ...policy }, context);
}

/** A decision in short: `retry: network`, `stop: max-retries`. */
export function brief({ kind, reason }: Decision): string {
  return `${kind}: ${reason}`;
}

/**
 * The decisions on failures that come one after the other, each attempt starting when the decision
 * before said and failing at once, up to the first stop.
 */
export function decisionsOn(
  failures: readonly Failure[],
  first: OperationFacts = anOperation(),
  circumstances: Circumstances = {},
): Decision[] {
  const decisions: Decision[] = [];
  let operation = first;
  let atMs = first.startedAt;
  for (const failure of failures) {
    const decision = decideOn(failure, operation, { ...circumstances, atMs });
    decisions.push(decision);
    if (decision.kind === 'stop') break;
    atMs = decision.retryAt;
    operation = {
      ...operation,
      attempt: operation.attempt + 1,
      retriedFor: [...operation.retriedFor, decision.reason],
      previousBackoffMs: decision.backoffMs,
    };
  }
  return decisions;
}
