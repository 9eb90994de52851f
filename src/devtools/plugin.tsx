import type { QueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useLive, usePage } from './devtools.tsx';
import { Panel } from './panel/panel.tsx';
import { type DevtoolsTheme, Shadow } from './shadow.tsx';

/** The props of {@link SteadfetchDevtoolsPanel}. */
export interface SteadfetchDevtoolsPanelProps {
  /** @default 'system' */
  readonly theme?: DevtoolsTheme | undefined;
  /** The QueryClient to show. @default that of the nearest QueryClientProvider */
  readonly client?: QueryClient | undefined;
}

/** The panel alone, as high as its container. */
export function EmbeddedPanel(props: SteadfetchDevtoolsPanelProps): ReactElement | null {
  return usePage() ? <InPage {...props} /> : null;
}

function InPage({ theme = 'system', client }: SteadfetchDevtoolsPanelProps): ReactElement {
  const live = useLive(client);
  return (
    <Shadow theme={theme} isFull>
      <Panel live={live} />
    </Shadow>
  );
}
