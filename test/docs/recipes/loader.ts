import { queryOptions } from '@tanstack/react-query';
import { queryClient, steady } from './steady.ts';

export const product = (id: string) =>
  queryOptions({
    queryKey: ['product', id],
    queryFn: ({ signal }) => steady.json<{ name: string }>(`/api/products/${id}`, { signal }),
  });

interface Navigation {
  readonly params: { readonly id: string };
  readonly request: Request;
}

// React Router; in TanStack Router the signal is `abortController.signal`.
export async function loader({ params, request }: Navigation): Promise<null> {
  const options = product(params.id);
  const cancel = () => void queryClient.cancelQueries(options);
  request.signal.addEventListener('abort', cancel);
  await queryClient.ensureQueryData({ ...options, ...steady.queryPolicy({ whenDown: 'fail' }) });
  request.signal.removeEventListener('abort', cancel);
  return null;
}
