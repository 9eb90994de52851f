import { discard } from '../lib/discard.ts';
import type { PassedRequest } from '../fetch/api.ts';
import type { Attempt } from '../fetch/attempt/attempt.ts';
import { succeeded } from '../fetch/attempt/classify.ts';
import { accept } from '../fetch/attempt/answer.ts';
import { endExtensions, type Extension, type Recovery } from '../fetch/extension.ts';
import { readHeaders } from '../fetch/init.ts';
import { mayBeDone } from '../idempotency/interpret-response.ts';
import { callApp, isBoolean, reporterOf } from '../lib/input/callback.ts';
import { checkNames, reject } from '../lib/input/check.ts';
import { code, type MadeBy } from '../lib/input/made-by.ts';
import { isSafeMethod } from '../policy/operation.ts';
import type { HttpFailure, Processed } from '../policy/outcome.ts';
import { inDevelopment } from '../lib/development.ts';

/** A write, as passed to the app's functions. */
export interface ConditionalRequest {
  /** In upper case. */
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Null for the body of a Request. */
  readonly body: BodyInit | null;
}

/** The argument of `wasOurs`. */
export interface WasOursContext {
  readonly request: ConditionalRequest;
  /** The refusal. Its body can be read. */
  readonly response: Response;
  /** The signal of the write. A request that carries it belongs to the same query or mutation. */
  readonly signal: AbortSignal;
}

/** The options of {@link conditionalWrites}. */
export interface ConditionalWritesOptions {
  /**
   * Finds out whether a write that was refused with 409 or 412 had already won. A 2xx Response (handed to the
   * caller) or `true` (an empty 204) means success, `false` a plain conflict. If it throws, returns another
   * answer, or takes longer than an attempt may, the outcome is unknown.
   *
   * @default none: a refusal after an attempt that may have won leaves the outcome unknown
   */
  readonly wasOurs?:
    | ((context: WasOursContext) => boolean | Response | Promise<boolean | Response>)
    | undefined;
  /**
   * Whether the server refuses this write in any state other than the one that the write names, such as a
   * transition from `open` to `paid`. Must be synchronous.
   *
   * @default `If-Match` with an entity tag, or `If-None-Match: *`
   */
  readonly isConditional?: ((request: ConditionalRequest) => boolean) | undefined;
}

/**
 * Declares that an API refuses a write whose condition no longer holds, for `apis: [{ match, conditional }]`.
 * The POST or PATCH may be sent again without a key. If it is then refused, its own first attempt may have
 * won: `wasOurs` finds out. Without it the outcome is unknown.
 *
 * @throws TypeError for an invalid option.
 *
 * @example
 * ```ts
 * import { conditionalWrites, createSteadfetch } from 'steadfetch';
 *
 * const conditional = conditionalWrites({
 *   async wasOurs({ request, signal }) {
 *     const response = await fetch(request.url, { signal, cache: 'no-store' });
 *     const own = request.headers.get('edit-id');
 *     return own !== null && response.headers.get('edit-id') === own && response;
 *   },
 * });
 * export const steady = createSteadfetch({ apis: [{ match: '/api/notes', conditional }] });
 * ```
 */
export function conditionalWrites(
  options: ConditionalWritesOptions = {},
): MadeBy<'conditionalWrites'> {
  inDevelopment(() => check(options));
  const { wasOurs, isConditional } = options;
  const mistakeIn = reporterOf(options, 'conditional: isConditional', rule);
  const isOne = (request: ConditionalRequest): boolean =>
    !isSafeMethod(request.method) &&
    (hasCondition(request) ||
      !!(isConditional && callApp(() => isConditional(request), isBoolean, mistakeIn)));
  const callWasOurs = async (attempt: Attempt, request: ConditionalRequest, response: Response) => {
    const signal = attempt.request.signal ?? attempt.signal;
    const answering = (async () => wasOurs?.({ request, response, signal }))();
    const said = await attempt.awaitApp(answering, discard).then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    const ours = callApp(said, isAnswer, reporterOf(options, 'conditional: wasOurs', answerRule));
    return ours === true ? new Response(null, { status: 204 }) : ours;
  };

  const made: Extension & { readonly by: 'conditionalWrites' } = {
    by: 'conditionalWrites',
    inspect: (_api, passed) => ({ idempotent: isOne(toRequest(passed)) || undefined }),
    async recover(attempt, failure, response) {
      const { method, url, passed } = attempt.request;
      const request = toRequest({ method, url, passed, init: attempt.init });
      if (!isConflict(failure) || !isOne(request)) return undefined;
      const processed = processedOf(attempt, failure);
      if (!wasOurs) return refuse(attempt, response, { ...failure, processed });
      // Frees its concurrency slot meanwhile. This attempt was refused, whatever earlier ones did.
      const refusal = { ...failure, processed: 'no' } as const;
      attempt.sending?.end(refusal, undefined, response);
      const copy = response.clone();
      const said = await callWasOurs(attempt, request, copy);
      if (attempt.isAborted) {
        discard(copy);
        discard(said);
        return undefined;
      }
      // axios builds its own response from its adapter's, so a Response from the app cannot replace it.
      const isOpaque = !!attempt.context.client;
      // A failed or empty look-up says nothing about the write.
      const isKnown = said ? said.ok : said === false;
      if (!isKnown || (said && isOpaque)) {
        discard(said);
        const left = isKnown ? 'unknown' : processed;
        return refuse(attempt, response, { ...failure, processed: left });
      }
      if (!said) return refuse(attempt, response, refuseAll(attempt, refusal));
      endAsDone(attempt, response, refusal);
      if (said !== copy) discard(copy);
      return { response: said };
    },
  };
  return { [code]: made };
}

const rule = inDevelopment(
  () => 'only If-Match and If-None-Match: * count. It must be synchronous and return true or false',
);

/** Ends the attempt as a success, because the write had won. */
function endAsDone(attempt: Attempt, response: Response, refusal: HttpFailure): void {
  endExtensions(attempt, succeeded(response.status));
  attempt.request.operation.errors.recordRaw();
  attempt.end();
  attempt.recordOutcome(refusal, undefined, response);
  discard(response);
}

/**
 * If-Match ignores weak tags (RFC 9110 §13.1.1), and `If-Match: *` matches the state that this very write
 * created.
 */
const hasCondition = ({ headers }: ConditionalRequest): boolean =>
  /(^|[\s,])"/.test(headers.get('if-match') ?? '') || headers.get('if-none-match')?.trim() === '*';

const toRequest = ({ passed, init, method, url }: PassedRequest): ConditionalRequest => ({
  method,
  url,
  headers: readHeaders(passed, init),
  body: init.body ?? null,
});

const isConflict = ({ status, inProgress }: HttpFailure): boolean =>
  (status === 409 || status === 412) && !inProgress;

/** Unknown if an earlier attempt may have won. */
const processedOf = (attempt: Attempt, { processed }: HttpFailure): Processed =>
  mayBeDone(attempt, attempt.request.step?.key) ? 'unknown' : processed;

/** No attempt of this request has won. Another request of the mutation may have taken effect. */
function refuseAll({ request, effect }: Attempt, refusal: HttpFailure): HttpFailure {
  const { effects, submission } = request.operation;
  if (effect) effects.refuse(effect);
  const isLeft = !!submission && effects.isUnknown(effect);
  return isLeft ? { ...refusal, processed: 'unknown' } : refusal;
}

/** @throws the refusal, unless another client reads its status. */
const refuse = (attempt: Attempt, response: Response, failure: HttpFailure): Recovery => ({
  response: accept(attempt, response, failure),
});

const answerRule = inDevelopment(
  () =>
    'it is unknown which write has won. It must return true, false or a Response, or a promise of one',
);

const isAnswer = (value: unknown): value is boolean | Response =>
  isBoolean(value) || typeof (value as Partial<Response> | null)?.headers?.get === 'function';

function check(options: ConditionalWritesOptions): void {
  const names: readonly (keyof ConditionalWritesOptions)[] = ['wasOurs', 'isConditional'];
  checkNames('conditionalWrites', options, names);
  for (const name of names) {
    const given = options[name];
    if (given !== undefined && typeof given !== 'function')
      reject('conditionalWrites', name, given, 'a function');
  }
}
