import { isJsonAnswer } from '../fetch/attempt/classify.ts';
import type { ErrorReader } from '../fetch/api.ts';
import type { Extension } from '../fetch/extension.ts';
import { discard } from '../lib/discard.ts';
import type { Attempt } from '../fetch/attempt/attempt.ts';
import { callApp, reporterOf } from '../lib/input/callback.ts';
import { checkNames, reject } from '../lib/input/check.ts';
import { code, type MadeBy } from '../lib/input/made-by.ts';
import { isSteadfetchError } from '../operation/errors.ts';
import {
  classifyAnswer,
  type Failure,
  type HttpFailure,
  type Processed,
} from '../policy/outcome.ts';

/** A failure as the app reads it from an answer or an error: what its status would have said over HTTP. */
export interface ClassifiedFailure {
  /** The status that it counts as, from 400 to 599: 401, 429, 503. The policy and the health go by it. */
  readonly status: number;
  /** How long the server asks to wait, in milliseconds. @default that of the Retry-After beside it, if any */
  readonly retryAfterMs?: number | undefined;
  /**
   * Whether sending it again is worth it. It counts for more than the status, and never for more than the
   * method: a POST without a key that may have been done is not sent again. @default by the status
   */
  readonly retryable?: boolean | undefined;
  /** Whether the server did what was asked. @default by the status: `no` for a 4xx, `unknown` for a 5xx */
  readonly processed?: Processed | undefined;
}

/** How an app reads what an API shows otherwise than by its status. */
export interface OutcomeReaders {
  /**
   * What this answer shows: `'ok'`, a failure, or undefined for what its status says. With a failure,
   * `steady.fetch` rejects with an `HttpError`; with `'ok'` it resolves, whatever the status.
   *
   * `body` is the parsed JSON; undefined where the answer is no JSON, which is not waited for. `response` is a
   * copy whose body is read already. Must be synchronous.
   */
  readonly classifyResponse?:
    | ((response: Response, body: unknown) => ClassifiedFailure | 'ok' | undefined)
    | undefined;
  /**
   * What this error shows, which a queryFn or a mutationFn has thrown: a failure, or undefined for what
   * it says by itself. It is asked about every error that is none of Steadfetch's own, and no abort. An
   * error does not say where its request went: so the readers of all APIs are asked, in order, whatever
   * their `match`. Must be synchronous.
   */
  readonly classifyError?: ((error: unknown) => ClassifiedFailure | undefined) | undefined;
}

/**
 * Reads what an API shows otherwise than by its status, for `apis: [{ match, outcomes }]`: GraphQL errors in
 * an answer with status 200, the error objects of a house, errors that an interceptor has rewritten.
 *
 * Where a reader throws, is asynchronous, or returns anything else, it counts as not given, and the
 * console says so once. Of an answer that is JSON, the whole body is awaited before the answer is handed on.
 *
 * @throws TypeError when a reader is no function.
 *
 * @example
 * ```ts
 * import { classifyOutcomes, createSteadfetch } from 'steadfetch';
 *
 * type Body = { errors?: unknown[] } | undefined;
 *
 * const outcomes = classifyOutcomes({
 *   classifyResponse: (_, body) => ((body as Body)?.errors ? { status: 400 } : undefined),
 * });
 * export const steady = createSteadfetch({ apis: [{ match: '/graphql', outcomes }] });
 * ```
 */
export function classifyOutcomes(readers: OutcomeReaders): MadeBy<'classifyOutcomes'> {
  if (process.env.NODE_ENV !== 'production') check(readers);
  const { classifyResponse, classifyError } = readers;
  const read = <Said extends ClassifiedFailure | 'ok'>(
    option: keyof OutcomeReaders,
    ask: () => unknown,
    isRight: (said: unknown) => said is Said,
  ): Said | undefined => callApp(ask, isRight, reporterOf(readers, `outcomes: ${option}`, rule));

  const made: Extension & ErrorReader = {
    by: 'classifyOutcomes',
    async classify(attempt, response, failure) {
      // Of an opaque answer nothing can be read, and another one is not its API's.
      const isItsOwn = response.status !== 0 && failure?.kind !== 'body';
      if (!classifyResponse || !isItsOwn) return failure;
      const [copy, body] = await readJson(attempt, response, failure);
      const said = read('classifyResponse', () => classifyResponse(copy, body), isAnswer);
      if (said === 'ok') return undefined;
      return said
        ? toFailure(said, (name) => response.headers.get(name), attempt.context.clock.now())
        : failure;
    },
    ofError(error, known) {
      if (!classifyError || known.kind === 'aborted') return undefined;
      const ask = (): unknown => (isSteadfetchError(error) ? undefined : classifyError(error));
      const said = read('classifyError', ask, isFailure);
      if (!said) return undefined;
      const askedMs = known.kind === 'http' ? known.retryAfterMs : undefined;
      return toFailure({ ...said, retryAfterMs: said.retryAfterMs ?? askedMs }, () => null, 0);
    },
  };
  return { [code]: made };
}

const rule =
  process.env.NODE_ENV !== 'production' &&
  'it counts as not given. It must be synchronous and return undefined, or { status (400 to 599), ' +
    `retryAfterMs, retryable, processed }; for an answer also 'ok'`;

const names: readonly (keyof OutcomeReaders)[] = ['classifyResponse', 'classifyError'];

function check(readers: OutcomeReaders): void {
  checkNames('classifyOutcomes', readers, names);
  for (const name of names) {
    const reader = readers[name];
    if (reader !== undefined && typeof reader !== 'function')
      reject('classifyOutcomes', name, reader, 'a function');
  }
}

const members = ['status', 'retryAfterMs', 'retryable', 'processed'];

function isFailure(said: unknown): said is ClassifiedFailure {
  const {
    status,
    retryAfterMs = 0,
    retryable = true,
    processed = 'no',
  } = Object(said) as Record<keyof ClassifiedFailure, unknown>;
  return (
    Number.isInteger(status) &&
    (status as number) >= 400 &&
    (status as number) <= 599 &&
    Number.isFinite(retryAfterMs) &&
    (retryAfterMs as number) >= 0 &&
    typeof retryable === 'boolean' &&
    ['no', 'yes', 'unknown'].includes(processed as string) &&
    Object.keys(said as object).every((name) => members.includes(name))
  );
}

const isAnswer = (said: unknown): said is ClassifiedFailure | 'ok' =>
  said === 'ok' || isFailure(said);

/** The failure that its status would have said over HTTP, with what is known better. */
export function toFailure(
  { status, retryAfterMs, retryable, processed }: ClassifiedFailure,
  header: (name: string) => string | null,
  nowMs: number,
): HttpFailure {
  const usual = classifyAnswer({ status, header }, nowMs, false);
  return {
    ...usual,
    retryAfterMs: retryAfterMs === undefined ? usual.retryAfterMs : Math.ceil(retryAfterMs),
    ...(retryable !== undefined && { shouldRetry: retryable }),
    processed: processed ?? usual.processed,
  };
}

/**
 * A copy of an answer, and its JSON, if it is any. Anything else may be a stream without an end.
 *
 * @throws NetworkError, TimeoutError, or the caller's abort reason, where the body does not come.
 */
export async function readJson(
  attempt: Attempt,
  response: Response,
  failure: Failure | undefined,
): Promise<readonly [Response, unknown]> {
  const data = attempt.context.client?.readData(attempt.init);
  const copy = response.clone();
  if (data !== undefined && typeof data !== 'string') return [copy, data];
  if (!isJsonAnswer(response)) {
    discard(copy);
    return [copy, undefined];
  }
  attempt.markFailed(failure);
  const text = data ?? (await copy.text());
  try {
    return [copy, JSON.parse(text)];
  } catch {
    return [copy, undefined];
  }
}
