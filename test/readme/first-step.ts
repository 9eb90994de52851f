import { QueryClient } from '@tanstack/react-query';
import { retryPolicy } from 'steadfetch/policy';

export const queryClient = new QueryClient({
  defaultOptions: { queries: retryPolicy() },
});
