import { toUrl } from '../../lib/input/url.ts';

/** The source of an operation's idempotency keys: one press of Submit, with one meaning. */
export interface Submission {
  /** The key of the only request without a name. Named requests carry keys derived from it and the name. */
  readonly key: string;
  /**
   * On the wall clock, in epoch milliseconds. A key older than its API keeps it is never sent again
   * automatically.
   */
  readonly createdAt: number;
  /** It may have been sent before this operation, by the form or by an earlier page. @default false */
  wasSent?: boolean | undefined;
  /** A request of it was sent without a key, because its API honours none: sending it again may do it twice. */
  isUnkeyed?: boolean | undefined;
  /** A request that may be sent again was sent: with a key, or an idempotent one. */
  isRepeatable?: boolean | undefined;
  /** A step from before this operation has changed, and its bytes are not kept: it cannot be sent again. */
  isChanged?: boolean | undefined;
  /** Its steps from before this operation, if they are stored. They bind it if it may have been sent. */
  readonly past?: readonly PastStep[] | undefined;
  /** Identifies a body whose bytes are not kept. */
  readonly digest?: ((body: FixedBody) => Promise<string>) | undefined;
  /** Stores a step that is sent, done or refused. `lifetimeMs`: how long its API keeps its key. */
  readonly keep?: ((step: Step, lifetimeMs?: number) => void) | undefined;
  /**
   * Resolves once everything about the submission is stored: no request of it is sent before. Rejects if none
   * may be sent.
   */
  readonly kept?: (() => Promise<void>) | undefined;
}

/** An immutable body. */
export type FixedBody = string | URLSearchParams | Blob | ArrayBuffer | null;

/** One keyed request of an operation, across all attempts. */
export interface Step {
  /** '' without a name, `#` and its name, or `=` and the key that the request brings. */
  readonly id: string;
  /** Method and absolute URL. */
  readonly target: string;
  readonly key: string;
  /**
   * The bytes that were sent first are sent again, because one key never has two payloads. Undefined if only
   * the digest is kept.
   */
  body?: FixedBody | undefined;
  /** Identifies its body. */
  readonly digest?: string | undefined;
  /** The latest attempt that sent it. */
  attempt: number;
  /** When it was first sent, in epoch milliseconds. */
  sentAt?: number | undefined;
  /** It succeeded. */
  isDone?: boolean | undefined;
  /** It was definitely refused: its key stands for that refusal. */
  isRefused?: boolean | undefined;
  /** How many of its keys stand for refusals. @default 0 */
  readonly refusals?: number | undefined;
}

/** The `target` of a request. */
export const stepTarget = (method: string, url: string): string =>
  `${method} ${toUrl(url)?.href ?? url}`.replace(/#.*/s, '');

/** The part of a step that is kept after its operation. */
export type PastStep = Omit<Step, 'attempt'>;

/**
 * The steps of a submission that the user sends again. A step that was definitely refused takes a new key:
 * the old one would be answered with the same refusal for ever.
 */
export function renewRefused(steps: readonly PastStep[]): readonly PastStep[] {
  return steps.map((step) => {
    const { id, target, key, isRefused, refusals = 0 } = step;
    return isRefused ? { id, target, key, refusals: refusals + 1 } : step;
  });
}

/** The keyed requests of an operation. Each waits its turn to find out which step it is. */
export interface Steps {
  readonly known: Map<string, Step>;
  turn: Promise<unknown>;
  /** The latest attempt with a keyed request, and the target of its first one: the others need names. */
  asked?: { readonly attempt: number; readonly target: string } | undefined;
  /** Why no further request of this attempt is sent: it could not be found out which step one of them is. */
  mistake?: { readonly attempt: number; readonly error: unknown } | undefined;
  /** The submission may have been sent by an earlier operation. */
  readonly wasSent: boolean;
  /** How far the clock was ahead of the wall clock when the steps began, in milliseconds. */
  readonly aheadMs: number;
}
