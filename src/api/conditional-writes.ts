import type { ConditionalCode } from '../fetch/codes.ts';
import { failed } from '../fetch/attempt/failure.ts';
import { type Call, endCall, tell, untilStopped } from '../fetch/attempt/in-flight.ts';
import { readHeaders, readParts } from '../fetch/attempt/request.ts';
import { accept } from '../fetch/attempt/response.ts';
import { callApp, isBoolean, reporterOf } from '../lib/input/callback.ts';
import { checkNames, reject } from '../lib/input/check.ts';
import { code, type MadeBy } from '../lib/input/made-by.ts';
import { setLimit } from '../operation/time-limit.ts';
import { isSafeMethod } from '../policy/operation.ts';

/** A write as an app looks at it. */
export interface ConditionalRequest {
  /** In upper case. */
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Null for that of a Request. */
  readonly body: BodyInit | null;
}

/** What `wasOurs` is told. */
export interface WasOursContext {
  readonly request: ConditionalRequest;
  /** Its refusal, of which the body may be read. */
  readonly response: Response;
  /** That of the write: with it, what is read belongs to the same query or mutation. */
  readonly signal: AbortSignal;
}

/** How an API makes its writes conditional. */
export interface ConditionalWritesOptions {
  /**
   * Looks whether the write has won that was refused with 409 or 412. The answer to hand on, or `true` for an
   * empty 204, is a success, and `false` a plain conflict. Where it throws or takes longer than an attempt
   * may, nothing is known.
   *
   * @default nobody looks: a refusal after an attempt that may have won leaves the outcome unknown
   */
  readonly wasOurs?:
    | ((context: WasOursContext) => boolean | Response | Promise<boolean | Response>)
    | undefined;
  /**
   * Whether the server refuses this write in any other state than the one that the write names, such as a
   * transition from `open` to `paid`. Must be synchronous.
   *
   * @default `If-Match` with an entity tag, or `If-None-Match: *`
   */
  readonly isConditional?: ((request: ConditionalRequest) => boolean) | undefined;
}

/**
 * Declares that an API refuses a write whose condition no longer holds, for `apis: [{ match, conditional }]`:
 * such a POST or PATCH may be sent again without a key. Where it is then refused, its own first attempt
 * may have won: `wasOurs` looks, and without it the outcome is unknown.
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * import { conditionalWrites, createSteadfetch } from 'steadfetch';
 *
 * const conditional = conditionalWrites({
 *   async wasOurs({ request, signal }) {
 *     const response = await fetch(request.url, { signal, cache: 'no-store' });
 *     return response.headers.get('edit-id') === request.headers.get('edit-id') && response;
 *   },
 * });
 * export const steady = createSteadfetch({ apis: [{ match: '/api/notes', conditional }] });
 * ```
 */
export function conditionalWrites(
  options: ConditionalWritesOptions = {},
): MadeBy<'conditionalWrites'> {
  if (process.env.NODE_ENV !== 'production') check(options);
  const { wasOurs, isConditional } = options;
  const mistakeIn = reporterOf(options, 'conditional: isConditional', rule);
  const isOne = (request: ConditionalRequest): boolean =>
    !isSafeMethod(request.method) &&
    (hasCondition(request) ||
      !!(isConditional && callApp(() => isConditional(request), isBoolean, mistakeIn)));
  const look = async (call: Call, request: ConditionalRequest, response: Response) => {
    const signal = call.caller ?? call.signal;
    // It may never settle: it has the time of an attempt.
    const asked = (async () => wasOurs?.({ request, response, signal }))();
    const said = await untilStopped(call, asked).then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    return callApp(said, isAnswer, reporterOf(options, 'conditional: wasOurs', answerRule));
  };

  const made: ConditionalCode = {
    by: 'conditionalWrites',
    isConditional: (parts, init) => isOne(toRequest(parts, init)) || undefined,
    async settle(call, failure, response) {
      const { facts, caller, limit, limitMs } = call;
      const { operation, name, step, effect } = facts;
      const request = toRequest(readParts(call.input, call.init), call.init);
      if (!/^4(09|12)$/.test(`${failure.status}`) || failure.inProgress || !isOne(request))
        return undefined;
      const { effects, submission } = operation;
      const asked = { request: name, key: step?.key };
      const mayBeOurs = !!submission?.wasSent || effects.mayBeDone(asked, effect);
      const processed = mayBeOurs ? 'unknown' : failure.processed;
      if (!wasOurs) return accept(call, response, { ...failure, processed });
      // It takes up no place meanwhile. Whatever came of the others, this attempt was refused.
      const refusal = { ...failure, processed: 'no' } as const;
      call.recordOutcome(refusal, undefined, response);
      setLimit(call, limit, limitMs);
      const said = await look(call, request, response.clone());
      if (caller?.aborted) throw failed(call, undefined);
      setLimit(call, limit);
      // axios makes its own answer of what its own adapter has brought.
      const isOpaque = !!call.context.client;
      if (said === undefined || (said && isOpaque))
        return accept(call, response, { ...failure, processed: said ? 'unknown' : processed });
      if (!said) {
        if (effect) effects.refuse(effect);
        const isLeft = !!submission && effects.isUnknown(effect);
        return accept(call, response, isLeft ? { ...failure, processed: 'unknown' } : refusal);
      }
      call.keyed?.succeed();
      operation.errors.recordRaw();
      endCall(call);
      tell(call, refusal, undefined, response);
      response.body?.cancel().catch(() => {});
      return said === true ? new Response(null, { status: 204 }) : said;
    },
  };
  return { [code]: made };
}

const rule =
  process.env.NODE_ENV !== 'production' &&
  'only If-Match and If-None-Match: * count. It must be synchronous and return true or false';

/** A weak tag matches nothing there (RFC 9110 §13.1.1), and `*` matches what this very write has made. */
const hasCondition = ({ headers }: ConditionalRequest): boolean =>
  /(^|[\s,])"/.test(headers.get('if-match') ?? '') || headers.get('if-none-match')?.trim() === '*';

const toRequest = (
  { request, method, url }: ReturnType<typeof readParts>,
  init: RequestInit,
): ConditionalRequest => ({
  method,
  url,
  headers: readHeaders(request, init),
  body: init.body ?? null,
});

const answerRule =
  process.env.NODE_ENV !== 'production' &&
  'nobody knows which write has won. It must return true, false or a Response, or a promise of one';

const isAnswer = (value: unknown): value is boolean | Response =>
  isBoolean(value) || typeof (value as Partial<Response> | null)?.status === 'number';

function check(options: ConditionalWritesOptions): void {
  const names: readonly (keyof ConditionalWritesOptions)[] = ['wasOurs', 'isConditional'];
  checkNames('conditionalWrites', options, names);
  for (const name of names) {
    const given = options[name];
    if (given !== undefined && typeof given !== 'function')
      reject('conditionalWrites', name, given, 'a function');
  }
}
