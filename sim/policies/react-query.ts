import { QueryClient } from '@tanstack/react-query';
import type { OpenTab } from './policy.ts';
import { putQueryInto } from './query-environment.ts';
import { send } from './send.ts';

/** React Query as it is: three retries after 1, 2 and 4 s. Only fetchQuery would not retry. */
export const reactQuery: OpenTab = (context) => {
  putQueryInto(context.clock);
  const client = new QueryClient();
  let asked = 0;
  return (url) =>
    client.fetchQuery({
      queryKey: [++asked],
      queryFn: () => send(context, url),
      retry: 3,
      gcTime: 0,
    });
};
