import type { UserFigures } from './user-figures.ts';

/** What a lone page must reach in a cell. */
export interface UserGoal {
  readonly name: string;
  readonly title: string;
  readonly isReached: (figures: UserFigures, outageS: number) => boolean;
}

const seconds = (ms: number): number => ms / 1000;

/** How many of its neighbours in the order of asking a page must answer in that order. */
const leastInOrder = 0.9;

export const userGoals: readonly UserGoal[] = [
  {
    name: 'answered',
    title: 'all answered within 60 s',
    isReached: ({ answered }) => answered === 1,
  },
  {
    name: 'first, median',
    title: 'first answer, median: max(1.5 s, 0.35 × outage), at most 16 s',
    isReached: ({ firstMedianMs }, outageS) =>
      seconds(firstMedianMs) <= Math.min(16, Math.max(1.5, 0.35 * outageS)),
  },
  {
    name: 'first, p95',
    title: 'first answer, p95: max(3 s, 0.75 × outage), at most 16 s',
    isReached: ({ firstP95Ms }, outageS) =>
      seconds(firstP95Ms) <= Math.min(16, Math.max(3, 0.75 * outageS)),
  },
  {
    name: 'whole, p95',
    title: 'the whole page after it, p95: max(4 s, 0.6 × outage), at most 15 s',
    isReached: ({ wholeP95Ms }, outageS) =>
      seconds(wholeP95Ms) <= Math.min(15, Math.max(4, 0.6 * outageS)),
  },
  {
    name: 'in order',
    title: 'first asked, first answered (but for 1 s): nine of ten neighbours',
    isReached: ({ inOrder }) => inOrder >= leastInOrder,
  },
];
