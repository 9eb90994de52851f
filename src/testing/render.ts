import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ComponentType, createElement, type ReactNode, useEffect } from 'react';
import { createSteadfetch, type Steadfetch } from '../core/internal.ts';
import { checkNames, isFunction, reject } from '../core/lib/input/check.ts';

/** A component around the rendered element. */
type Wrapper = ComponentType<{ children: ReactNode }>;

/** Options of {@link renderWithSteadfetch}. */
export interface RenderOptions {
  /**
   * The instance of the app. The default is a new one, which is disposed of when everything is unmounted. Its
   * jitter always picks the midpoint, so the default policy waits 500, 1000 and 2000 ms.
   * @default createSteadfetch({ random: () => 0.5 })
   */
  steady?: Steadfetch;
  /** A component around everything, inside the `QueryClientProvider`: a router, for example. @default none */
  wrapper?: Wrapper;
}

/** The additions of {@link renderWithSteadfetch} to the result of `render`. */
export interface Rendered {
  /** The instance: from the options, or the new one. */
  readonly steady: Steadfetch;
  /** A new client with the default options of the instance. */
  readonly queryClient: QueryClient;
}

/**
 * Renders within a `QueryClientProvider` with a new `QueryClient`, so that no test sees another test's data.
 *
 * @param render - Testing Library's `render`, as an argument so that this package does not import it.
 * @returns The result of `render`, with the instance and the client.
 *
 * @example
 * ```tsx
 * import { useQuery } from '@tanstack/react-query';
 * import { render, screen } from '@testing-library/react';
 * import { renderWithSteadfetch } from 'steadfetch/testing';
 * import { expect, test } from 'vitest';
 *
 * function Name() {
 *   const { data } = useQuery({ queryKey: ['name'], queryFn: async () => 'Lamp' });
 *   return <p>{data ?? 'Loading'}</p>;
 * }
 *
 * test('shows the name', async () => {
 *   renderWithSteadfetch(render, <Name />);
 *   expect(await screen.findByText('Lamp')).toBeDefined();
 * });
 * ```
 */
export function renderWithSteadfetch<Result extends object>(
  render: (element: ReactNode, options: { wrapper: Wrapper }) => Result,
  element: ReactNode,
  options: RenderOptions = {},
): Result & Rendered {
  const operation = 'renderWithSteadfetch';
  if (!isFunction(render))
    reject(operation, 'its first argument', render, 'the render of Testing Library');
  checkNames(operation, options, ['steady', 'wrapper']);
  const { steady: own, wrapper: Inner } = options;
  const steady = own ?? createSteadfetch({ random: () => 0.5 });
  const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
  let mounted = 0;
  const end = (): void => {
    // Strict mode unmounts everything once, and mounts it again.
    if (mounted > 0) return;
    queryClient.clear();
    if (!own) steady.dispose();
  };
  const Provider: Wrapper = ({ children }) => {
    useEffect(() => {
      mounted += 1;
      return () => {
        mounted -= 1;
        queueMicrotask(end);
      };
    }, []);
    const inner = Inner ? createElement(Inner, undefined, children) : children;
    return createElement(QueryClientProvider, { client: queryClient }, inner);
  };
  const result = render(element, { wrapper: Provider });
  return { ...result, steady, queryClient };
}
