import type { DefaultError, UseMutationOptions, UseMutationResult } from '@tanstack/react-query';
import type { SteadyFetch } from '../fetch/send.ts';
import type { SteadyJson } from '../fetch/json.ts';
import type { ConfirmationReason } from './submission.ts';
import type { MutationTarget } from '../react-query/status/mutation.ts';

/**
 * The end of a press of Submit.
 *
 * | status | meaning |
 * |---|---|
 * | `succeeded` | done, with `data` |
 * | `failed` | surely not done, with `error` |
 * | `unknown` | it may have been done, with `error`: the next press goes under the same key |
 * | `needs-confirmation` | the user must be asked before a new key is used |
 * | `busy` | nothing was sent: another payload of this form is under way |
 */
export type SubmitResult<TData = unknown, TError = DefaultError, TVariables = unknown> =
  | { readonly status: 'succeeded'; readonly data: TData }
  | { readonly status: 'failed' | 'unknown'; readonly error: TError }
  | ({ readonly status: 'needs-confirmation' } & Confirmation<TData, TError, TVariables>)
  | { readonly status: 'busy' };

/** A question for the user before anything is sent, because it may then be done twice. */
export interface Confirmation<TData = unknown, TError = DefaultError, TVariables = unknown> {
  /**
   * `edited-after-unknown`: the earlier submission may have been done, and this is another one.
   * `key-expired`: it may have been done, and its API no longer knows the key that would tell.
   * `age-unknown`: the same may be so, because the clock was set back since an earlier page made the key.
   * `cannot-find-out`: it may have been done, and its API gives the same stored failure for its key, or a second
   * press under its key has not found out, either. That press has sent it: this is asked instead of `unknown`.
   * `no-key`: it may have been done, and no key that would tell has gone with it: its API is not
   * declared to honour one, or it was sent past the `fetch` and `json` of the mutationFn's context.
   */
  readonly reason: ConfirmationReason;
  /** Sent once it is confirmed. */
  readonly variables: TVariables;
  /**
   * Sends it, under a new key. Once it is done, the earlier submission is forgotten. If it is surely not done, the
   * earlier one is unknown as before and, if it has the same content, so is this one (`unknown`).
   */
  readonly confirm: () => Promise<SubmitResult<TData, TError, TVariables>>;
  /** Sends nothing. The earlier submission stays unknown. */
  readonly cancel: () => void;
}

/** An earlier submission of this form that may have been done. */
export interface UnknownSubmission<TVariables = unknown> {
  readonly idempotencyKey: string;
  /** When its key was made, in epoch milliseconds. */
  readonly since: number;
  /** As they were sent; undefined after a reload, unless the form keeps them (`keepPayload`). */
  readonly variables: TVariables | undefined;
  /** The error that it ended in; undefined after a reload. */
  readonly error: unknown;
  /** A key has gone with it, by which its API does it once, also where it is sent again. */
  readonly isRepeatable: boolean;
  /** True if the key is, or may be, older than the API keeps one: sending it again would be a new order. */
  readonly isExpired: boolean;
  readonly isResolving: boolean;
  /** Asks the API whether it was done, if the form has a `resolve`; never rejects. */
  readonly resolve: () => Promise<'done' | 'not-done' | 'unknown'>;
}

/** The argument of `resolve`. */
export interface ResolveContext<TVariables = unknown> {
  readonly idempotencyKey: string;
  /** As they were sent; undefined after a reload, unless the form keeps them (`keepPayload`). */
  readonly variables: TVariables | undefined;
  /** `steady.fetch` */
  readonly fetch: SteadyFetch;
  /** `steady.json` */
  readonly json: SteadyJson;
}

/** The options of a form. */
export interface SafeSubmitOptions<TData = unknown, TVariables = unknown> {
  /** The name of the form. Copies with one name are one form, so each form of the site needs its own. */
  readonly form: string;
  /**
   * Asks the API whether the submission with an idempotency key was done: `{ done: data }` makes it a success of the
   * mutation (with its callbacks, where its variables are known), `'not-done'` ends it.
   *
   * @default none: only a press of Submit finds out
   */
  readonly resolve?:
    | ((
        context: ResolveContext<TVariables>,
      ) => Promise<{ readonly done: TData } | 'not-done' | 'unknown'>)
    | undefined;
  /**
   * Keeps the payload over a reload, readable in the storage of the tab, for `unknown.variables`. It
   * must be JSON. Nothing that others must not read. @default false
   */
  readonly keepPayload?: boolean | undefined;
}

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** The result of `useMutation`, without its functions. */
export type MutationResult<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
  TOnMutateResult = unknown,
> = Without<
  UseMutationResult<TData, TError, TVariables, TOnMutateResult>,
  'mutate' | 'mutateAsync' | 'reset'
>;

/** The result of `useMutation` without `mutate`, and the state and controls of a form. */
export type SafeSubmitResult<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
  TOnMutateResult = unknown,
> = MutationResult<TData, TError, TVariables, TOnMutateResult> & {
  /**
   * Sends the form, once for each submission. Rejects only for a programming error: a payload that has no
   * content to be known by (TypeError).
   */
  readonly submit: (variables: TVariables) => Promise<SubmitResult<TData, TError, TVariables>>;
  /** An earlier submission that may have been done, also from before a reload. */
  readonly unknown: UnknownSubmission<TVariables> | undefined;
  /** The question for the user, since the last press. */
  readonly confirmation: Confirmation<TData, TError, TVariables> | undefined;
  /**
   * Makes it a new form. A submission that may have been done stays known, unless `forgetUnknown` is true: then
   * the next press is a new order. A no-op while a submission is under way.
   */
  readonly reset: (options?: { readonly forgetUnknown?: boolean | undefined }) => void;
  /** For `useMutationStatus`: the newest submission of this form. */
  readonly target: MutationTarget;
};

/** The present options of a form, and its mutation. */
export interface FormOptions<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
  TOnMutateResult = unknown,
> extends SafeSubmitOptions<TData, TVariables> {
  readonly mutation: UseMutationOptions<TData, TError, TVariables, TOnMutateResult>;
}
