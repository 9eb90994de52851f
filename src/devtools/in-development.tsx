import type { ReactElement } from 'react';
import { Devtools, type SteadfetchDevtoolsProps } from './devtools.tsx';
import { EmbeddedPanel, type SteadfetchDevtoolsPanelProps } from './plugin.tsx';

/**
 * A badge in a corner of the page, and the panel that it opens: the health of each origin and endpoint, each
 * operation with every decision and its reason, and a log. Its colour is the worst origin, its number what is
 * paused. In production it is nothing, and brings no code.
 *
 * @throws Error when there is no QueryClient, or its default options are not those of Steadfetch.
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
  return process.env.NODE_ENV === 'production' ? null : <Devtools {...props} />;
}

/**
 * The panel without a badge, as high as the element that it is in. In production it is nothing.
 *
 * @throws Error when there is no QueryClient, or its default options are not those of Steadfetch.
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
  return process.env.NODE_ENV === 'production' ? null : <EmbeddedPanel {...props} />;
}

/** A plugin, as `TanStackDevtools` of `@tanstack/react-devtools` takes it. */
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
 * @param props - Whose app it shows; the theme is that of TanStack Devtools.
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
        <EmbeddedPanel {...props} theme={given.theme ?? 'system'} />
      ),
  };
}
