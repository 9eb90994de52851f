import type { PagePolicyName } from '../../../../sim/page/page-policies.ts';
import { pagePolicyNames } from '../../../../sim/report/names.ts';
import type { PolicyName } from '../storm.ts';

export const pageNames = pagePolicyNames;

/** What a page can have in the place of a rival: the others bring no queries. */
export const pageRivalOf = (rival: PolicyName): PagePolicyName =>
  rival === 'full-jitter-budget' ? rival : 'react-query';
