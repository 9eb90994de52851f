import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { renderToString } from 'react-dom/server';
import { createSteadfetch } from 'steadfetch';
import { SteadfetchDevtools, SteadfetchDevtoolsPanel } from 'steadfetch/devtools';
import { expect, test } from 'vitest';
import { instanceOfSteady } from '../../src/core/react-query/instance.ts';

test('a server renders nothing of them, and records nothing for each of its clients', () => {
  const steady = createSteadfetch();
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const html = renderToString(
    <QueryClientProvider client={client}>
      <SteadfetchDevtools />
      <SteadfetchDevtoolsPanel />
    </QueryClientProvider>,
  );
  expect(html).toBe('');
  expect(instanceOfSteady(steady, 'test').emitter.isHeard).toBe(false);
});
