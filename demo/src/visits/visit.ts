import { catalogueQuery } from '../api/catalogue-query.ts';
import { type Scenario, scenarios } from '../scenarios/scenarios.ts';

/** One look at the shop: a scenario, from an empty page or from one that is loaded already. */
export interface Visit {
  readonly number: number;
  readonly scenario: Scenario;
  /** The catalogue of an earlier visit is on the page, and is fetched anew. */
  readonly startsLoaded: boolean;
  readonly query: ReturnType<typeof catalogueQuery>;
}

/** What of a visit is in the URL hash: `#404`, or `#404/loaded`. */
export type VisitPlan = Pick<Visit, 'scenario' | 'startsLoaded'>;

/** A hash that names no scenario shows the one that says most. */
const defaultId = '503-twice';

export function parseHash(hash: string): VisitPlan {
  const [id, start] = hash.replace(/^#/, '').split('/');
  const byId = (wanted: string | undefined): Scenario | undefined =>
    scenarios.find((scenario) => scenario.id === wanted);
  return {
    scenario: byId(id) ?? byId(defaultId) ?? scenarios[0],
    startsLoaded: start === 'loaded',
  };
}

export function formatHash({ scenario, startsLoaded }: VisitPlan): string {
  return `#${scenario.id}${startsLoaded ? '/loaded' : ''}`;
}

let lastNumber = 0;

export function createVisit(plan: VisitPlan): Visit {
  const number = ++lastNumber;
  return { ...plan, number, query: catalogueQuery(number, plan.scenario.policy) };
}
