import { loaders } from './loaders.tsx';
import { reads } from './reads.tsx';
import { refetches } from './refetches.tsx';
import { writes } from './writes.tsx';

export const tutorials = [...reads, ...refetches, ...writes, ...loaders];
