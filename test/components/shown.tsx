import { type QueryKey, useQuery } from '@tanstack/react-query';
import type { List, Props } from './tutorial.ts';

export const listOptions = ({ api }: Props, queryKey: QueryKey = ['list']) => ({
  queryKey,
  queryFn: () => api.get<List>('/api/list'),
});

interface Result {
  readonly isPending: boolean;
  readonly isError: boolean;
  readonly data: List | undefined;
}

export function show({ isPending, isError, data }: Result) {
  if (isPending) return <p>Loading…</p>;
  return (
    <p>
      {isError && 'Failed '}
      {data?.items.join()}
    </p>
  );
}

/** The list, with options of its own. */
export function Shown({ own, ...props }: Props & { readonly own?: object }) {
  return show(useQuery({ ...listOptions(props), ...own }));
}
