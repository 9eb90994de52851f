import { queryOptions } from '@tanstack/react-query';
import type { PolicyOptions } from 'steadfetch';
import { steady } from '../steady.ts';
import type { Kite } from './kites.ts';

/**
 * The catalogue's query. Each visit has one of its own, so that no visit sees another one's data; and
 * a server of its own, so that one that is down for a visit is not for the next one.
 */
export function catalogueQuery(visit: number, policy: PolicyOptions) {
  return queryOptions({
    queryKey: ['catalogue', visit] as const,
    queryFn: ({ signal }) =>
      steady.json<readonly Kite[]>(`https://visit-${visit}.kites.example/api/catalogue`, {
        signal,
      }),
    ...steady.queryPolicy(policy),
  });
}
