import { pagePolicies, type PagePolicyName } from '../page/page-policies.ts';
import { runUser, type UserRecord } from '../user/run-user.ts';
import type { UserScenario } from '../user/user-scenario.ts';

/** What one page of one user sees of an outage. */
export const runLabUser = (policy: PagePolicyName, scenario: UserScenario): Promise<UserRecord> =>
  runUser(scenario, pagePolicies[policy]);
