import { onlineManager, useQueryClient } from '@tanstack/react-query';
import {
  type ReactElement,
  type ReactNode,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import { systemClock } from '../lib/clock.ts';
import { instanceOf } from '../react-query/instance.ts';
import { useOriginStatus } from '../react/use-origin-status.ts';
import { Action, Countdown, Frame, Told } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';

/** What a render prop of `ConnectionBanner` is given. */
export interface ConnectionView {
  /** `back`: what was wrong is over, for a few seconds. */
  readonly status: 'well' | 'offline' | 'down' | 'rate-limited' | 'back';
  readonly title: string;
  readonly detail: string;
  /** When the network is checked, or the server tried next, in epoch milliseconds. */
  readonly retryAt: number | undefined;
  /** Checks the network now; undefined where nothing watches it, or while it is there. */
  readonly checkNow: (() => void) | undefined;
}

/** Whose connection is shown, and how. */
export interface ConnectionBannerProps {
  /** An origin, or any URL of it. @default the worst of all that requests have gone to */
  readonly origin?: string | undefined;
  /** Draws it; what a screen reader hears stays. @default what the component draws */
  readonly children?: ((view: ConnectionView) => ReactNode) | undefined;
}

/** So long it is said that all is well again. */
const backMs = 5000;

/**
 * Says that the device is offline, the server is down, or asks for a pause; how many requests wait; and, for
 * five seconds, that it is over. It shows nothing while all is well.
 *
 * With `watchConnectivity` it has a Check now. Without, it goes by React Query's `onlineManager`.
 *
 * @throws Error when the QueryClient carries no default options of Steadfetch.
 *
 * @example
 * ```tsx
 * import { ConnectionBanner } from 'steadfetch/ui';
 *
 * export const Header = () => <ConnectionBanner origin="https://api.example" />;
 * ```
 */
export function ConnectionBanner({ origin, children }: ConnectionBannerProps): ReactElement {
  const texts = useTexts();
  const { connection } = texts;
  const client = useQueryClient();
  const server = useOriginStatus(origin);
  const network = useMemo(() => networkOf(instanceOf(client, 'ConnectionBanner')), [client]);
  const offline = useSyncExternalStore(network.subscribe, network.offline, () => undefined);
  const trouble = offline
    ? 'offline'
    : server.status === 'down' || server.status === 'rate-limited'
      ? server.status
      : undefined;
  const isBack = useAfter(trouble !== undefined);
  const status = trouble ?? (isBack ? 'back' : 'well');
  const titles = {
    well: '',
    offline: connection.offline,
    down: connection.down,
    'rate-limited': connection.limited,
    back: connection.back,
  };
  const view: ConnectionView = {
    status,
    title: titles[status],
    detail: trouble && server.waiting > 0 ? connection.waiting(server.waiting) : '',
    retryAt: offline ? offline.nextCheckAt : trouble && server.retryAt,
    checkNow: offline && network.checkNow,
  };
  return (
    <Frame name="banner" state={status}>
      {children
        ? children(view)
        : view.title !== '' && (
            <>
              <p className="steadfetch-title">{view.title}</p>
              {view.detail && <p className="steadfetch-detail">{view.detail}</p>}
              <Countdown
                retryAt={view.retryAt}
                label={offline ? connection.nextCheckIn : texts.nextAttemptIn}
              />
              {view.checkNow && (
                <div className="steadfetch-actions">
                  <Action label={connection.checkNow} onPress={view.checkNow} />
                </div>
              )}
            </>
          )}
      <Told text={view.title && texts.sentence(view.title)} />
    </Frame>
  );
}

/** Whether it was so a moment ago, and is no longer. */
function useAfter(isSo: boolean): boolean {
  const [was, setWas] = useState(isSo);
  if (isSo && !was) setWas(true);
  useEffect(() => {
    if (isSo || !was) return undefined;
    const timer = systemClock.setTimeout(() => setWas(false), backMs);
    return () => systemClock.clearTimeout(timer);
  }, [isSo, was]);
  return !isSo && was;
}

interface Offline {
  readonly nextCheckAt: number | undefined;
}

interface NetworkView {
  readonly subscribe: (listener: () => void) => () => void;
  /** Undefined while there is a network. */
  readonly offline: () => Offline | undefined;
  readonly checkNow?: () => void;
}

const unwatched: Offline = { nextCheckAt: undefined };

function networkOf({ connectivity }: ReturnType<typeof instanceOf>): NetworkView {
  if (!connectivity) {
    return {
      subscribe: (listener) => onlineManager.subscribe(listener),
      offline: () => (onlineManager.isOnline() ? undefined : unwatched),
    };
  }
  const { getState, subscribe, checkNow } = connectivity;
  return {
    subscribe,
    offline() {
      const state = getState();
      return state.status === 'offline' ? state : undefined;
    },
    checkNow,
  };
}
