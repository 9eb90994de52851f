import { code, type MadeBy } from '../lib/made-by.ts';
import { checkNumbers } from '../lib/check.ts';
import { createStore, type Readable } from '../lib/store.ts';

/** How many retries an origin is worth, for one tab. */
export interface BudgetOptions {
  /** Retries that can be made with no success in between. @default 10 */
  readonly maxTokens?: number | undefined;
  /** What a success puts back. @default 0.4 */
  readonly tokensPerSuccess?: number | undefined;
}

/** The tokens that the retries to one origin are paid from. Its state is how many are left. */
export interface Budget extends Readable<number> {
  /** Pays for one retry. False, and nothing is paid, when there is less than one token. */
  readonly spend: () => boolean;
  /** Pays for a retry that is made whatever is left. */
  readonly charge: () => true;
  readonly succeed: () => void;
}

/** What a retry budget brings. */
export interface BudgetCode {
  readonly by: 'retryBudget';
  readonly open: () => Budget;
}

/** Retries cost nothing. */
export const noBudget: Budget = {
  getState: () => Infinity,
  subscribe: () => () => {},
  spend: () => true,
  charge: () => true,
  succeed() {},
};

/**
 * Pays the retries to each origin from a budget that only successes fill again, for `budget`.
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * const frugal = createSteadfetch({ budget: retryBudget({ maxTokens: 5 }) });
 * ```
 */
export function retryBudget(options: BudgetOptions = {}): MadeBy<'retryBudget'> {
  const checked = checkNumbers('retryBudget', options, {
    maxTokens: [1, Infinity],
    tokensPerSuccess: [0, Infinity],
  });
  const made: BudgetCode = { by: 'retryBudget', open: () => createBudget(checked) };
  return { [code]: made };
}

/**
 * A token bucket (gRPC retry throttling, proposal A6), refilled by successes only: refilled by time
 * it would be tabs × drip, which is what keeps a server down.
 */
export function createBudget({
  maxTokens = 10,
  tokensPerSuccess = 0.4,
}: BudgetOptions = {}): Budget {
  const { getState, subscribe, set } = createStore(maxTokens);
  const charge = (): true => {
    set(Math.max(0, getState() - 1));
    return true;
  };
  return {
    getState,
    subscribe,
    spend: () => getState() >= 1 && charge(),
    charge,
    // Rounded: ten tenths are one.
    succeed: () =>
      set(Math.min(maxTokens, Math.round((getState() + tokensPerSuccess) * 1e9) / 1e9)),
  };
}
