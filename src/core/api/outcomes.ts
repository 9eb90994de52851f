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
import { inDevelopment } from '../lib/development.ts';

/** A failure that the app reads from an answer or an error, in the terms of HTTP. */
export interface ClassifiedFailure {
  /** The status that it counts as, from 400 to 599: 401, 429, 503. The policy and the endpoint's health use it. */
  readonly status: number;
  /** How long the server asks the client to wait, in milliseconds. @default the answer's Retry-After, if any */
  readonly retryAfterMs?: number | undefined;
  /**
   * Whether sending it again is worthwhile. Overrides the status, never the method: a POST without a key that
   * may have been processed is not sent again. @default by the status
   */
  readonly retryable?: boolean | undefined;
  /** Whether the server processed the request. @default by the status: `no` for a 4xx, `unknown` for a 5xx */
  readonly processed?: Processed | undefined;
}

/** How to read outcomes that the HTTP status does not show. */
export interface OutcomeReaders {
  /**
   * Reads an answer: `'ok'`, a failure, or undefined to use its status. For a failure, `steady.fetch`
   * rejects with an `HttpError`; for `'ok'` it resolves, whatever the status.
   *
   * `body` is the parsed JSON, or undefined for any other content, which is not waited for. `response` is a
   * copy whose body is already read. Must be synchronous.
   */
  readonly classifyResponse?:
    | ((response: Response, body: unknown) => ClassifiedFailure | 'ok' | undefined)
    | undefined;
  /**
   * Reads an error that a queryFn or a mutationFn threw: a failure, or undefined to use what is known
   * already. Called for every error except Steadfetch's own and aborts. An error does not say where its
   * request went, so the readers of all APIs are called in order, whatever their `match`. Must be
   * synchronous.
   */
  readonly classifyError?: ((error: unknown) => ClassifiedFailure | undefined) | undefined;
}

/**
 * Reads outcomes that the HTTP status does not show, for `apis: [{ match, outcomes }]`: GraphQL errors in a
 * 200, a company's own error objects, errors that an interceptor rewrote.
 *
 * A reader that throws, is asynchronous or returns anything else counts as not set, with one warning in the
 * console. The whole body of a JSON answer is awaited before the answer is returned.
 *
 * @throws TypeError if a reader is not a function.
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
  inDevelopment(() => check(readers));
  const { classifyResponse, classifyError } = readers;
  const read = <Said extends ClassifiedFailure | 'ok'>(
    option: keyof OutcomeReaders,
    call: () => unknown,
    isRight: (said: unknown) => said is Said,
  ): Said | undefined => callApp(call, isRight, reporterOf(readers, `outcomes: ${option}`, rule));

  const made: Extension & ErrorReader = {
    by: 'classifyOutcomes',
    async classify(attempt, response, failure) {
      // An opaque answer cannot be read, and an answer with the wrong content is not the API's.
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
      const call = (): unknown => (isSteadfetchError(error) ? undefined : classifyError(error));
      const said = read('classifyError', call, isFailure);
      if (!said) return undefined;
      const askedMs = known.kind === 'http' ? known.retryAfterMs : undefined;
      return toFailure({ ...said, retryAfterMs: said.retryAfterMs ?? askedMs }, () => null, 0);
    },
  };
  return { [code]: made };
}

const rule = inDevelopment(
  () =>
    'it counts as not given. It must be synchronous and return undefined, or { status (400 to 599), ' +
    `retryAfterMs, retryable, processed }; for an answer also 'ok'`,
);

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

/** The failure that this status means over HTTP, with the app's own values on top. */
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
 * Copies an answer and parses it, if it is JSON. Anything else may be an endless stream.
 *
 * @throws NetworkError, TimeoutError, or the caller's abort reason, if the body does not arrive.
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
