import type { PagePolicyName } from '../page/page-policies.ts';
import { defaultTimeoutMs, type PageScenario, userKinds } from './user-scenario.ts';

/** A policy and a page, in outages of several lengths: one job for a worker. */
export interface UserJob {
  readonly policy: PagePolicyName;
  readonly page: PageScenario;
  readonly outagesS: readonly number[];
  readonly seeds: number;
  readonly config?: Readonly<Record<string, unknown>>;
  /** All runs are one cell, that is averaged over the lengths. */
  readonly isAveraged: boolean;
}

interface Extent {
  readonly policies: readonly PagePolicyName[];
  readonly averagedPolicies: readonly PagePolicyName[];
  readonly counts: readonly number[];
  /** All four kinds of page, or the two that differ most. */
  readonly hasAllPages: boolean;
  readonly outagesS: readonly number[];
  readonly averagedCounts: readonly number[];
  readonly averageStepS: number;
  readonly seeds: number;
}

const all = ['steadfetch', 'react-query', 'full-jitter-8'] as const;

/** Everything that the page about one user shows. */
export const wholeExtent: Extent = {
  policies: all,
  averagedPolicies: all,
  counts: [1, 2, 4, 6, 12, 30],
  hasAllPages: true,
  outagesS: [0.5, 1, 2, 3.5, 5, 7, 10, 20, 30, 50],
  averagedCounts: [1, 6, 30],
  averageStepS: 0.05,
  seeds: 10,
};

/** Enough to tune with. */
export const quickExtent: Extent = {
  policies: ['steadfetch'],
  averagedPolicies: ['steadfetch', 'react-query'],
  counts: [1, 6, 30],
  hasAllPages: false,
  outagesS: [0.5, 1, 2, 5, 10, 20, 30, 50],
  averagedCounts: [1, 6],
  averageStepS: 0.25,
  seeds: 10,
};

/** Enough to tell a variant of the package from it. */
export const shortestExtent: Extent = {
  ...quickExtent,
  averagedPolicies: ['steadfetch'],
  counts: [1, 6],
  outagesS: [2, 5, 10, 30, 50],
  averagedCounts: [1],
};

const orders = ['at once', 'staggered'] as const;
const ages = ['fresh', 'used'] as const;

/** The outages over whose lengths an average is taken. */
const [shortestS, longestS] = [0.5, 7];

export function userJobs(extent: Extent, config?: UserJob['config']): UserJob[] {
  const { policies, averagedPolicies, counts, hasAllPages, averagedCounts, averageStepS } = extent;
  const { outagesS, seeds } = extent;
  const steps = Math.round((longestS - shortestS) / averageStepS);
  const lengths = Array.from({ length: steps + 1 }, (_, step) => shortestS + step * averageStepS);
  const pages = userKinds.flatMap((kind) =>
    ages.flatMap((page, ageIndex) =>
      counts.flatMap((queries) =>
        orders
          .filter((_, orderIndex) =>
            queries === 1 ? orderIndex === 0 : hasAllPages || orderIndex === ageIndex,
          )
          .map((order) => ({ kind, queries, order, page, timeoutMs: defaultTimeoutMs })),
      ),
    ),
  );
  const given = config && { config };
  const averagedPages = pages.filter(
    ({ queries, order }) => averagedCounts.includes(queries) && order === 'at once',
  );
  return [
    ...policies.flatMap((policy) =>
      pages.map((page) => {
        return { policy, page, outagesS, seeds, ...given, isAveraged: false };
      }),
    ),
    ...averagedPolicies.flatMap((policy) =>
      averagedPages.map((page) => {
        return { policy, page, outagesS: lengths, seeds: 1, ...given, isAveraged: true };
      }),
    ),
  ];
}
