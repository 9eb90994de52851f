import { queryOptions } from '@tanstack/react-query';
import type { PolicyOptions } from 'steadfetch';
import { steady } from '../steady.ts';
import type { Kite } from './kites.ts';

/** The catalogue's query. Each visit has one of its own, so that no visit sees another one's data. */
export function catalogueQuery(visit: number, policy: PolicyOptions) {
  return queryOptions({
    queryKey: ['catalogue', visit] as const,
    queryFn: ({ signal }) => steady.json<readonly Kite[]>('api/catalogue', { signal }),
    ...steady.queryPolicy(policy),
  });
}
