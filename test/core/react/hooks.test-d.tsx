import {
  infiniteQueryOptions,
  QueryClient,
  queryOptions,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useSuspenseInfiniteQuery,
  useSuspenseQueries,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { createSteadfetch, composePersister } from 'steadfetch';
import { expectTypeOf } from 'vitest';

interface Product {
  readonly id: number;
}

const steady = createSteadfetch();
const client = new QueryClient({ defaultOptions: steady.defaultOptions });
const own = steady.queryPolicy({ maxRetries: 1 });
const composed = composePersister(steady, (queryFn, context) => queryFn(context));
const queryKey = ['products'] as const;
const queryFn = ({ signal }: { signal: AbortSignal }) =>
  steady.json<Product[]>('/products', { signal });

/** What a queryFn returns is what the hooks return, with and without a policy of its own. */
export function Queries() {
  expectTypeOf(useQuery({ queryKey, queryFn }).data).toEqualTypeOf<Product[] | undefined>();
  expectTypeOf(useQuery({ ...own, queryKey, queryFn }).data).toEqualTypeOf<Product[] | undefined>();
  expectTypeOf(useQuery({ queryKey, queryFn, ...own }).data).toEqualTypeOf<Product[] | undefined>();
  expectTypeOf(useQuery({ ...composed, queryKey, queryFn }).data).toEqualTypeOf<
    Product[] | undefined
  >();
  expectTypeOf(useQuery({ ...own, ...composed, queryKey, queryFn }).data).toEqualTypeOf<
    Product[] | undefined
  >();
  expectTypeOf(useSuspenseQuery({ ...own, queryKey, queryFn }).data).toEqualTypeOf<Product[]>();
  expectTypeOf(useQuery({ ...own, queryKey, queryFn }).error).toEqualTypeOf<Error | null>();
  const selected = useQuery({ ...own, queryKey, queryFn, select: (all) => all.length });
  expectTypeOf(selected.data).toEqualTypeOf<number | undefined>();
  const withInitial = useQuery({ ...own, queryKey, queryFn, initialData: [] });
  expectTypeOf(withInitial.data).toEqualTypeOf<Product[]>();
}

export function Lists() {
  const pair = useQueries({
    queries: [
      { ...own, queryKey, queryFn },
      { ...own, queryKey: ['name'], queryFn: () => steady.json<string>('/name') },
    ],
  });
  expectTypeOf(pair[0].data).toEqualTypeOf<Product[] | undefined>();
  expectTypeOf(pair[1].data).toEqualTypeOf<string | undefined>();
  const suspended = useSuspenseQueries({ queries: [{ ...own, queryKey, queryFn }] });
  expectTypeOf(suspended[0].data).toEqualTypeOf<Product[]>();
}

export function Pages() {
  const options = {
    queryKey,
    queryFn: ({ pageParam }: { pageParam: number }) =>
      steady.json<Product[]>(`/products?page=${pageParam}`),
    initialPageParam: 0,
    getNextPageParam: (_last: Product[], all: Product[][]) => all.length,
  };
  const { data } = useInfiniteQuery({ ...own, ...options });
  expectTypeOf(data?.pages).toEqualTypeOf<Product[][] | undefined>();
  const suspended = useSuspenseInfiniteQuery({ ...own, ...options });
  expectTypeOf(suspended.data.pages).toEqualTypeOf<Product[][]>();
  const inline = useInfiniteQuery({
    ...own,
    queryKey,
    queryFn: ({ pageParam }) => {
      expectTypeOf(pageParam).toEqualTypeOf<number>();
      return steady.json<Product[]>(`/products?page=${pageParam}`);
    },
    initialPageParam: 0,
    getNextPageParam: () => 1,
  });
  expectTypeOf(inline.data?.pageParams).toEqualTypeOf<unknown[] | undefined>();
  const prepared = infiniteQueryOptions({ ...own, ...options });
  expectTypeOf(useInfiniteQuery(prepared).data?.pages).toEqualTypeOf<Product[][] | undefined>();
}

export async function clients() {
  expectTypeOf(await client.fetchQuery({ ...own, queryKey, queryFn })).toEqualTypeOf<Product[]>();
  expectTypeOf(await client.ensureQueryData({ ...own, queryKey, queryFn })).toEqualTypeOf<
    Product[]
  >();
}

export function Options() {
  const prepared = queryOptions({ ...own, queryKey, queryFn });
  expectTypeOf(client.getQueryData(prepared.queryKey)).toEqualTypeOf<Product[] | undefined>();
  expectTypeOf(useQuery(prepared).data).toEqualTypeOf<Product[] | undefined>();
  const keyed = useQuery({
    ...own,
    queryKey: ['product', 1] as const,
    queryFn: ({ queryKey: [, id] }) => {
      expectTypeOf(id).toEqualTypeOf<1>();
      return steady.json<Product>(`/products/${id}`);
    },
  });
  expectTypeOf(keyed.data).toEqualTypeOf<Product | undefined>();
}

export function Mutations() {
  const { data, mutate, variables, context, error } = useMutation({
    ...steady.mutationPolicy({ maxRetries: 1 }),
    mutationFn: (product: Product) =>
      steady.json<string>('/products', { method: 'PUT', json: product }),
    onMutate: (product) => ({ before: product.id }),
  });
  expectTypeOf(data).toEqualTypeOf<string | undefined>();
  expectTypeOf(variables).toEqualTypeOf<Product | undefined>();
  expectTypeOf(context).toEqualTypeOf<{ before: number } | undefined>();
  expectTypeOf(error).toEqualTypeOf<Error | null>();
  mutate({ id: 1 });
  // @ts-expect-error -- the variables are a Product, and not a string
  mutate('Tea');
}
