import { loaders } from './loaders.tsx';
import { moreOptions } from './more-options.tsx';
import { moreScenes } from './more-scenes.tsx';
import { moreStates } from './more-states.tsx';
import { moreWrites } from './more-writes.tsx';
import { PendingLadder, reads } from './reads.tsx';
import { RefreshButton, refetches } from './refetches.tsx';
import { writes } from './writes.tsx';

/** Those of the page in the docs. */
export const tutorials = [...reads, ...refetches, ...writes, ...loaders];

/** Those that are only held to the same. */
export const more = [...moreStates, ...moreOptions, ...moreScenes, ...moreWrites];

/** A first load, and a refetch: both are tried in outages of any length. */
export const swept = tutorials.filter(({ App }) => App === PendingLadder || App === RefreshButton);
