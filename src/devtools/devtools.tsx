import { QueryClientContext } from '@tanstack/react-query';
import {
  type KeyboardEvent,
  type ReactElement,
  type Ref,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { QueryClient } from '@tanstack/react-query';
import { createPortal } from 'react-dom';
import { type Live, liveOf } from './recording/live.ts';
import { Mark, Panel } from './panel/panel.tsx';
import { type Tone, toneOfHealth } from './panel/parts.tsx';
import { type DevtoolsTheme, Shadow } from './shadow.tsx';

/** The props of {@link SteadfetchDevtools}. */
export interface SteadfetchDevtoolsProps {
  /** The corner of the page for the badge. @default 'bottom-left' */
  readonly position?: 'bottom-left' | 'bottom-right' | 'top-left' | 'top-right' | undefined;
  /** Whether the panel is open at first. @default false */
  readonly initialIsOpen?: boolean | undefined;
  /** @default 'system' */
  readonly theme?: DevtoolsTheme | undefined;
  /** The QueryClient to show. @default that of the nearest QueryClientProvider */
  readonly client?: QueryClient | undefined;
}

/** The app that is shown. */
export function useLive(given: QueryClient | undefined): Live {
  const nearest = useContext(QueryClientContext);
  const client = given ?? nearest;
  if (!client)
    throw new Error(
      'SteadfetchDevtools: there is no QueryClient. Render it inside a QueryClientProvider, or give it a `client`.',
    );
  return liveOf(client);
}

const never = (): (() => void) => () => {};
const pageOf = (): HTMLElement => document.body;
/** A server has no page, and hydration must match the server. */
const none = (): undefined => undefined;

/** Without a page nothing is recorded: a server would record for each of its clients. */
export const usePage = (): HTMLElement | undefined => useSyncExternalStore(never, pageOf, none);

/** The badge, and the panel that it opens. */
export function Devtools(props: SteadfetchDevtoolsProps): ReactElement | null {
  const page = usePage();
  return page ? createPortal(<InPage {...props} />, page) : null;
}

function InPage({
  position = 'bottom-left',
  initialIsOpen = false,
  theme = 'system',
  client,
}: SteadfetchDevtoolsProps): ReactElement {
  const live = useLive(client);
  const badge = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(initialIsOpen);
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && !isOpen) badge.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  const close = useCallback(() => setOpen(false), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
  };
  return (
    <Shadow theme={theme}>
      {isOpen ? (
        <div className="dock" role="dialog" aria-label="Steadfetch devtools" onKeyDown={onKeyDown}>
          <Panel live={live} onClose={close} />
        </div>
      ) : (
        <Badge live={live} badge={badge} position={position} onOpen={() => setOpen(true)} />
      )}
    </Shadow>
  );
}

/** Its colour shows the worst origin, its number the paused operations. */
function Badge({
  live: { recorder, inspect, faults },
  badge,
  position,
  onOpen,
}: {
  readonly live: Live;
  readonly badge: Ref<HTMLButtonElement>;
  readonly position: string;
  readonly onOpen: () => void;
}): ReactElement {
  useSyncExternalStore(recorder.subscribe, recorder.getState, recorder.getState);
  const { origins, operations } = inspect();
  const paused = operations.filter(({ status }) => status === 'paused').length;
  const tones: readonly Tone[] = origins.map(({ status, endpoints }) =>
    status === 'up' && endpoints.some((one) => one.status === 'down')
      ? 'warn'
      : toneOfHealth(status),
  );
  const tone = (['bad', 'warn', 'info', 'good'] as const).find((one) => tones.includes(one));
  const words = {
    bad: 'an origin is down',
    warn: 'an origin has trouble',
    info: 'an origin is recovering',
    good: 'all origins are up',
  };
  const broken = useSyncExternalStore(faults.subscribe, faults.getState, faults.getState).length;
  const how = tone ? words[tone] : 'no request yet';
  return (
    <button
      ref={badge}
      type="button"
      className="badge"
      data-tone={tone ?? 'plain'}
      data-at={position}
      aria-label={`Steadfetch devtools: ${how}, ${paused} paused${broken > 0 ? ', faults active' : ''}`}
      onClick={onOpen}
    >
      <Mark />
      <span className="dot" aria-hidden />
      {broken > 0 && <span className="warn">faults</span>}
      {paused > 0 && <b aria-hidden>{paused}</b>}
    </button>
  );
}
