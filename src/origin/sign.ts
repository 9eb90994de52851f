import { isUnavailable, type Outcome } from '../policy/outcome.ts';

/** What an attempt showed about the health of its endpoint and origin. */
export type Sign =
  /** An answer, and not one of an outage. */
  | 'success'
  /** An answer which says that the request failed: a 4xx, a 501. */
  | 'alive'
  /** No answer, or that of a server in trouble. */
  | 'outage'
  /** It was called off. */
  | 'nothing';

/**
 * What an outcome says about its origin. Only what an outage looks like counts against it: a 4xx is
 * an answer, and so are 501 and 505; an abort says nothing, nor does an answer that somebody else
 * has given.
 */
export function signOf(outcome: Outcome): Sign {
  switch (outcome.kind) {
    case 'ok':
      return 'success';
    case 'timeout':
    case 'network':
      return 'outage';
    case 'http':
      return outcome.status === 500 || isUnavailable(outcome.status) ? 'outage' : 'alive';
    default:
      return 'nothing';
  }
}
