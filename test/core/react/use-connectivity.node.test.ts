import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { createSteadfetch, watchConnectivity } from 'steadfetch';
import { useConnectivity } from 'steadfetch/react';
import { expect, test } from 'vitest';

test('on a server it renders: nothing is known of the network, and nothing is wrong', () => {
  const steady = createSteadfetch({ connectivity: watchConnectivity() });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  function Network(): string {
    const { status, since, nextCheckAt, checkNow } = useConnectivity();
    checkNow();
    return `${status} ${since} ${nextCheckAt}`;
  }
  const child: ReactElement = createElement(Network);
  const html = renderToString(createElement(QueryClientProvider, { client }, child));
  expect(html).toBe('online 0 undefined');
});
