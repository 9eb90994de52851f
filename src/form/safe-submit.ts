import type { DefaultError, UseMutationOptions, UseMutationResult } from '@tanstack/react-query';
import type { SteadyFetch } from '../fetch/fetch.ts';
import type { SteadyJson } from '../fetch/json.ts';
import type { ConfirmationReason } from './submission.ts';
import type { MutationTarget } from '../react-query/status/mutation.ts';

/**
 * What has become of a press of Submit.
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

/** What the user must be asked before anything is sent, because it may then be done twice. */
export interface Confirmation<TData = unknown, TError = DefaultError, TVariables = unknown> {
  /**
   * `edited-after-unknown`: what was sent before may have been done, and this is something else.
   * `key-expired`: it may have been done, and its API no longer knows the key that would tell.
   * `age-unknown`: the same may be so, because the clock was set back since an earlier page made the key.
   * `cannot-find-out`: it may have been done, and its API gives the same stored failure for its key, or a second
   * press under its key has not found out, either. That press has sent it: this is asked instead of `unknown`.
   * `no-key`: it may have been done, and no key that would tell has gone with it: its API is not
   * declared to honour one, or it was sent past the `fetch` and `json` of the mutationFn's context.
   */
  readonly reason: ConfirmationReason;
  /** What is sent once it is confirmed. */
  readonly variables: TVariables;
  /**
   * Sends it, under a new key. Once it is done, what was sent before is forgotten; where it is surely not
   * done, that is unknown as before, and so is this, where it is the same content (`unknown`).
   */
  readonly confirm: () => Promise<SubmitResult<TData, TError, TVariables>>;
  /** Sends nothing. What was sent before stays unknown. */
  readonly cancel: () => void;
}

/** An earlier submission of this form that may have been done. */
export interface UnknownSubmission<TVariables = unknown> {
  readonly idempotencyKey: string;
  /** When its key was made, in epoch milliseconds. */
  readonly since: number;
  /** What was sent; undefined after a reload, unless the form keeps it (`keepPayload`). */
  readonly variables: TVariables | undefined;
  /** What it ended in; undefined after a reload. */
  readonly error: unknown;
  /** A key has gone with it, by which its API does it once, also where it is sent again. */
  readonly isRepeatable: boolean;
  /** Its key is older than its API keeps one, or may be: sending it again would be a new order. */
  readonly isExpired: boolean;
  readonly isResolving: boolean;
  /** Asks the API what has become of it, where the form knows how (`resolve`); never rejects. */
  readonly resolve: () => Promise<'done' | 'not-done' | 'unknown'>;
}

/** What `resolve` is told. */
export interface ResolveContext<TVariables = unknown> {
  readonly idempotencyKey: string;
  /** What was sent; undefined after a reload, unless the form keeps it (`keepPayload`). */
  readonly variables: TVariables | undefined;
  /** `steady.fetch` */
  readonly fetch: SteadyFetch;
  /** `steady.json` */
  readonly json: SteadyJson;
}

/** What a form can be told about itself. */
export interface SafeSubmitOptions<TData = unknown, TVariables = unknown> {
  /** What it is called. Copies with one name are one form; so each form of the site needs its own. */
  readonly form: string;
  /**
   * Asks the API what has become of an idempotency key: `{ done: data }` makes it a success of the
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

/** What `useMutation` returns, without `mutate`, and what a form has beside it. */
export type SafeSubmitResult<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
  TOnMutateResult = unknown,
> = Without<
  UseMutationResult<TData, TError, TVariables, TOnMutateResult>,
  'mutate' | 'mutateAsync' | 'reset'
> & {
  /**
   * Sends the form, once for each submission. Rejects only for a programming error: a payload that has no
   * content to be known by (TypeError).
   */
  readonly submit: (variables: TVariables) => Promise<SubmitResult<TData, TError, TVariables>>;
  /** An earlier submission that may have been done, also from before a reload. */
  readonly unknown: UnknownSubmission<TVariables> | undefined;
  /** What the user must be asked, since the last press. */
  readonly confirmation: Confirmation<TData, TError, TVariables> | undefined;
  /**
   * Makes it a new form. What may have been done stays known, unless `forgetUnknown` is true: then
   * the next press is a new order. While something is under way it does nothing.
   */
  readonly reset: (options?: { readonly forgetUnknown?: boolean | undefined }) => void;
  /** For `useMutationStatus`: the newest submission of this form. */
  readonly target: MutationTarget;
};

/** A form, and what it is made with at present. */
export interface FormOptions<
  TData = unknown,
  TError = DefaultError,
  TVariables = unknown,
  TOnMutateResult = unknown,
> extends SafeSubmitOptions<TData, TVariables> {
  readonly mutation: UseMutationOptions<TData, TError, TVariables, TOnMutateResult>;
}
