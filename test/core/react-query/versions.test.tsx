import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import reactQuery from '@tanstack/react-query/package.json' with { type: 'json' };
import { render, screen } from '@testing-library/react';
import { version as reactVersion } from 'react';
import { version as reactDomVersion } from 'react-dom';
import { expect, test } from 'vitest';

const { EXPECTED_REACT, EXPECTED_REACT_QUERY } = process.env;

/** React 18.0.0 names its build behind its version. */
const versionOf = (version: string): string => version.replace(/-.*/, '');

test('this project runs on the exact React and React Query that package.json pins for it', () => {
  expect(versionOf(reactVersion)).toBe(EXPECTED_REACT);
  expect(versionOf(reactDomVersion)).toBe(EXPECTED_REACT);
  expect(reactQuery.version).toBe(EXPECTED_REACT_QUERY);
  expect(reactQuery.dependencies['@tanstack/query-core']).toBe(EXPECTED_REACT_QUERY);
});

test('Testing Library, React Query and the component share one React', async () => {
  function Product() {
    const queryFn = (): string => `React ${versionOf(reactVersion)}`;
    const { data } = useQuery({ queryKey: ['product'], queryFn });
    return <p>{data}</p>;
  }
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Product />
    </QueryClientProvider>,
  );
  expect(await screen.findByText(`React ${EXPECTED_REACT}`)).toBeDefined();
});
