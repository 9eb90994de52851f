import {
  focusManager,
  onlineManager,
  QueryClient,
  QueryClientProvider,
} from '@tanstack/react-query';
import { act, render, type RenderResult } from '@testing-library/react';
import { type ReactElement, type ReactNode, StrictMode } from 'react';
import {
  createSteadfetch,
  type Steadfetch,
  type SteadfetchConfig,
  type SteadfetchEvent,
} from 'steadfetch';
import { virtualTime, type VirtualTime } from 'steadfetch/testing';
import { onTestFinished, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import { createServer, type Server } from './server.ts';

interface Strict {
  readonly strict?: boolean;
}

/** Everything that a test of the React Query glue stands on. */
export interface Rig {
  readonly steady: Steadfetch;
  readonly client: QueryClient;
  readonly server: Server;
  readonly time: VirtualTime;
  /** Milliseconds since the rig was made. */
  readonly elapsed: () => number;
  readonly events: SteadfetchEvent[];
  readonly show: (children: ReactNode, options?: Strict) => RenderResult;
  /** The element that `show` renders, to render it again with other children. */
  readonly wrap: (children: ReactNode, options?: Strict) => ReactElement;
  /** Ends everything before the end of the test. */
  readonly end: () => void;
}

/**
 * A Steadfetch instance, a QueryClient and a server, on virtual time, for one test. Every draw of
 * chance is 0.5, so the waits of the default policy are 500, 1000 and 2000 ms. Retries follow the
 * policy alone; a test about origins passes a `health` of its own (`{}`: the defaults).
 */
export function createRig(config: SteadfetchConfig = {}, makeClient = defaultClient): Rig {
  const time = virtualTime(vi, { act: (work) => act(work) });
  const startedAt = time.now();
  const elapsed = (): number => time.now() - startedAt;
  const server = createServer(elapsed);
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    ...noOrigin,
    ...config,
  });
  const client = makeClient(steady);
  const events: SteadfetchEvent[] = [];
  steady.subscribe((event) => void events.push(event));
  const end = (): void => {
    client.clear();
    steady.dispose();
    onlineManager.setOnline(true);
    focusManager.setFocused(undefined);
    time.restore();
  };
  onTestFinished(end);
  const wrap = (children: ReactNode, { strict = false }: Strict = {}): ReactElement => {
    const app = <QueryClientProvider client={client}>{children}</QueryClientProvider>;
    return strict ? <StrictMode>{app}</StrictMode> : app;
  };
  return {
    steady,
    client,
    server,
    time,
    elapsed,
    events,
    show: (children, options) => render(wrap(children, options)),
    wrap,
    end,
  };
}

function defaultClient(steady: Steadfetch): QueryClient {
  return new QueryClient({ defaultOptions: steady.defaultOptions });
}

/** Takes React Query offline or back, as the browser's events do. */
export function setOnline(online: boolean): void {
  act(() => onlineManager.setOnline(online));
}

/** Hides the tab from React Query or shows it, as the browser's events do. */
export function setVisible(visible: boolean): void {
  act(() => focusManager.setFocused(visible));
}
