import type { QueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useLive, usePage } from './devtools.tsx';
import { Panel } from './panel/panel.tsx';
import { type DevtoolsTheme, Shadow } from './shadow.tsx';

/** Which app the panel shows, and its colours. */
export interface SteadfetchDevtoolsPanelProps {
  /** @default 'system' */
  readonly theme?: DevtoolsTheme | undefined;
  /** Whose app it shows. @default that of the nearest QueryClientProvider */
  readonly client?: QueryClient | undefined;
}

/** The panel alone, as high as what it is in. */
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
