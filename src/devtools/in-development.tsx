import type { ReactElement } from 'react';
import { Boundary } from './boundary.tsx';
import { Devtools, type SteadfetchDevtoolsProps } from './devtools.tsx';
import { EmbeddedPanel, type SteadfetchDevtoolsPanelProps } from './plugin.tsx';

/**
 * A badge in a corner of the page, with a panel: the health of each origin and endpoint, each operation with
 * every decision and its reason, and a log. The badge's colour shows the worst origin, its number the paused
 * operations. In production it renders nothing, and adds no code. If it cannot be shown, it says why, and the
 * app continues.
 *
 * @example
 * ```tsx
 * import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
 * import type { ReactNode } from 'react';
 * import { createSteadfetch } from 'steadfetch';
 * import { SteadfetchDevtools } from 'steadfetch/devtools';
 *
 * const steady = createSteadfetch();
 * const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
 *
 * export const App = ({ children }: { children: ReactNode }) => (
 *   <QueryClientProvider client={queryClient}>
 *     {children}
 *     <SteadfetchDevtools />
 *   </QueryClientProvider>
 * );
 * ```
 */
export function SteadfetchDevtools(props: SteadfetchDevtoolsProps): ReactElement | null {
  if (process.env.NODE_ENV === 'production') return null;
  return (
    <Boundary>
      <Devtools {...props} />
    </Boundary>
  );
}

/**
 * The panel without a badge, as high as its container. In production it renders nothing. If it cannot be
 * shown, it says why.
 *
 * @example
 * ```tsx
 * import { SteadfetchDevtoolsPanel } from 'steadfetch/devtools';
 *
 * export const Support = () => (
 *   <div style={{ height: '30rem' }}>
 *     <SteadfetchDevtoolsPanel />
 *   </div>
 * );
 * ```
 */
export function SteadfetchDevtoolsPanel(props: SteadfetchDevtoolsPanelProps): ReactElement | null {
  if (process.env.NODE_ENV === 'production') return null;
  return (
    <Boundary>
      <EmbeddedPanel {...props} />
    </Boundary>
  );
}

/** A plugin in the form of `TanStackDevtools` from `@tanstack/react-devtools`. */
export interface SteadfetchDevtoolsPlugin {
  readonly id: string;
  readonly name: string;
  readonly render: (
    element: HTMLElement,
    props: { readonly theme?: 'light' | 'dark' | undefined },
  ) => ReactElement;
}

/**
 * The panel as a plugin of TanStack Devtools. In production it renders nothing.
 *
 * @param props - The QueryClient to show. The theme comes from TanStack Devtools.
 *
 * @example
 * ```ts
 * import { steadfetchDevtoolsPlugin } from 'steadfetch/devtools';
 *
 * // <TanStackDevtools plugins={plugins} />
 * export const plugins = [steadfetchDevtoolsPlugin()];
 * ```
 */
export function steadfetchDevtoolsPlugin(
  props: Pick<SteadfetchDevtoolsPanelProps, 'client'> = {},
): SteadfetchDevtoolsPlugin {
  return {
    id: 'steadfetch',
    name: 'Steadfetch',
    render: (_element, given) =>
      process.env.NODE_ENV === 'production' ? (
        <></>
      ) : (
        <SteadfetchDevtoolsPanel {...props} theme={given.theme ?? 'system'} />
      ),
  };
}
