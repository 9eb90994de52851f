import type { SubmissionHook } from '../operation/environment.ts';
import type { AnswerFailure, Failure, HttpFailure, Outcome } from '../policy/outcome.ts';
import type { Inspector } from './api.ts';
import type { Attempt, FetchContext } from './attempt/attempt.ts';
import type { BodyCheck } from './attempt/body/body-source.ts';
import type { SteadyRequest } from './request.ts';

/**
 * The steps that an option of an API, or an operation with a submission, adds to a request. Each step is
 * optional, and runs for all extensions of a request in the order of `extensionsOf`.
 *
 * | step | when | may |
 * |---|---|---|
 * | `inspect` | the request is read | say what its arguments mean |
 * | `prepare` | before admission | change what is sent |
 * | `sign` | each time it is sent, after admission | wait, refuse, and change what is sent |
 * | `follow` | an answer has come | follow a redirect |
 * | `classify` | its headers are in | change what the answer means |
 * | `recover` | the answer is a refusal | send it again, or give another answer |
 * | `end` | it has ended | record how |
 */
export interface Extension extends Inspector {
  /** @throws TypeError when the request cannot be sent as it is. */
  readonly prepare?: (
    context: FetchContext,
    request: SteadyRequest,
    init: RequestInit,
  ) => Promise<RequestInit> | undefined;
  /** @throws NotSentError, or another error, when the request may not be sent any more. */
  readonly sign?: (attempt: Attempt) => Promise<void> | undefined;
  /** Follows a redirect in place of fetch. Undefined if the extension does not handle redirects. @throws if it must not be followed. */
  readonly follow?: (attempt: Attempt, response: Response) => Promise<Response> | undefined;
  /** @throws the error that ends the attempt, if a body that it needs does not arrive. */
  readonly classify?: (
    attempt: Attempt,
    response: Response,
    failure: AnswerFailure | undefined,
    /** The failure that the headers alone have shown. */
    shown: AnswerFailure | undefined,
  ) => Promise<AnswerFailure | undefined>;
  /** @throws the failure, with what is known of it. */
  readonly recover?: (
    attempt: Attempt,
    failure: HttpFailure,
    response: Response,
  ) => Promise<Recovery | undefined>;
  readonly end?: (attempt: Attempt, outcome: Outcome) => void;
  /** Checks a body that marks its own end; undefined for other bodies. */
  readonly checkBody?: (response: Response) => BodyCheck | undefined;
}

/** How a refused attempt goes on: sent again as this, or answered with this. */
export type Recovery =
  | { readonly resend: RequestInit; readonly response?: undefined }
  | { readonly response: Response; readonly resend?: undefined };

/** The extension of an operation with a submission. An app without submissions does not bundle it. */
export interface SubmissionExtension extends Extension, SubmissionHook {
  readonly by: 'submission';
}

const none: readonly Extension[] = [];

/** The extensions of a request: those of its API, and that of its operation right after the one that gives keys. */
export function extensionsOf({ api, operation }: SteadyRequest): readonly Extension[] {
  const ofApi: readonly Extension[] = api?.extensions ?? none;
  const own = operation.submissionCode as SubmissionExtension | undefined;
  if (!own) return ofApi;
  const at = ofApi.findIndex(({ by }) => by === 'defineIdempotency') + 1;
  return [...ofApi.slice(0, at), own, ...ofApi.slice(at)];
}

/**
 * Runs one step of all extensions of a request, in order. The first one gets `first`, and each other one the result of the
 * one before. Undefined if there is nothing to wait for.
 */
export function runStep<T>(
  request: SteadyRequest,
  first: T,
  step: (extension: Extension, value: T) => Promise<T> | undefined,
): Promise<T> | undefined {
  let running: Promise<T> | undefined;
  for (const extension of extensionsOf(request))
    running = running
      ? running.then((value) => step(extension, value) ?? value)
      : step(extension, first);
  return running;
}

/** Runs the last step before a request is sent; undefined if there is nothing to wait for. */
export const sign = (attempt: Attempt): Promise<void> | undefined =>
  runStep<void>(attempt.request, undefined, ({ sign: signBy }) => signBy?.(attempt));

/** Tells the extensions of a request how an attempt has ended. */
export function endExtensions(attempt: Attempt, outcome: Outcome): void {
  for (const { end } of extensionsOf(attempt.request)) end?.(attempt, outcome);
}

/** For each 401 whose credentials could not be renewed: when the renewal is tried again, in epoch milliseconds. */
export const renewableAt: WeakMap<Failure, number> = new WeakMap();
