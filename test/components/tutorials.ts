import { loaders } from './loaders.tsx';
import { PendingLadder, reads } from './reads.tsx';
import { RefreshButton, refetches } from './refetches.tsx';
import { writes } from './writes.tsx';

export const tutorials = [...reads, ...refetches, ...writes, ...loaders];

/** A first load, and a refetch: both are tried in outages of any length. */
export const swept = tutorials.filter(({ App }) => App === PendingLadder || App === RefreshButton);
