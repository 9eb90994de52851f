import type { Outcome } from '../policy/outcome.ts';

/** What an attempt showed about its origin. */
export type Sign =
  /** An answer, and not one of an outage. */
  | { readonly kind: 'alive'; readonly isSuccess: boolean }
  /** No answer, or that of a server in trouble. A time-out weighs two: it has cost more. */
  | { readonly kind: 'outage'; readonly weight: number }
  /** It was called off. */
  | { readonly kind: 'nothing' };

const alive: Sign = { kind: 'alive', isSuccess: false };
const success: Sign = { kind: 'alive', isSuccess: true };
const nothing: Sign = { kind: 'nothing' };

/**
 * What an outcome says about its origin. Only what an outage looks like counts against it: a 4xx is
 * an answer, and so are 501 and 505; an abort says nothing, nor does an answer that somebody else
 * has given.
 */
export function signOf(outcome: Outcome): Sign {
  switch (outcome.kind) {
    case 'ok':
      return success;
    case 'timeout':
      return { kind: 'outage', weight: 2 };
    case 'network':
      return { kind: 'outage', weight: 1 };
    case 'http':
      return [500, 502, 503, 504].includes(outcome.status) ? { kind: 'outage', weight: 1 } : alive;
    default:
      return nothing;
  }
}
