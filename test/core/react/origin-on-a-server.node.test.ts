import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { createSteadfetch } from 'steadfetch';
import { useOriginStatus } from 'steadfetch/react';
import { ConnectionBanner } from 'steadfetch/ui';
import { expect, test } from 'vitest';

const Status = ({ origin }: { readonly origin: string }) => useOriginStatus(origin).status;

/** A page in Node, which has no location that a relative URL could be of. */
function renderPage(part: ReactElement): string {
  const client = new QueryClient({ defaultOptions: createSteadfetch().defaultOptions });
  return renderToString(createElement(QueryClientProvider, { client }, part));
}

test.each(['/api', 'api/orders', './', '?page=2', 'https://api.example/orders'])(
  'a server renders the status of the origin of %s, which a browser knows',
  (origin) => {
    expect(renderPage(createElement(Status, { origin }))).toBe('up');
    expect(renderPage(createElement(ConnectionBanner, { origin }))).toContain('data-state="well"');
  },
);

test('what is no URL in a browser, either, is named', () => {
  expect(() => renderPage(createElement(Status, { origin: 'http://[' }))).toThrow(
    "useOriginStatus: 'http://[' is no URL, and must be one.",
  );
});
