import type { Scenario } from '../model/scenario.ts';
import type { PagePolicyName } from '../page/page-policies.ts';
import type { PolicyName } from '../policies/by-name.ts';
import type { UserRecord } from '../user/run-user.ts';
import type { UserScenario } from '../user/user-scenario.ts';
import type { LabStorm, StormSecond } from './lab-storm.ts';

/** What a page asks the lab's worker to run. */
export type LabRequest =
  | { readonly work: 'storm'; readonly policy: PolicyName; readonly scenario: Scenario }
  | { readonly work: 'user'; readonly policy: PagePolicyName; readonly scenario: UserScenario };

/** What the worker says: each second of a storm, and at last the result. */
export type LabReply =
  | { readonly kind: 'second'; readonly second: StormSecond }
  | { readonly kind: 'storm'; readonly figures: LabStorm['figures'] }
  | { readonly kind: 'user'; readonly record: UserRecord };
