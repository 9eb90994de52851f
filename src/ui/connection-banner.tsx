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
import type { Readable } from '../lib/store.ts';
import { type Instance, instanceOf } from '../react-query/instance.ts';
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
 * five seconds, that it is over, where that is known. It shows nothing while all is well.
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
  const instance = useMemo(() => instanceOf(client, 'ConnectionBanner'), [client]);
  const network = useMemo(() => networkOf(instance), [instance]);
  const known = useSyncExternalStore(network.subscribe, network.getState, () => online);
  const offline = known.status === 'offline';
  const trouble = offline
    ? 'offline'
    : server.status === 'down' || server.status === 'rate-limited'
      ? server.status
      : undefined;
  const isBack = useBack(trouble, known, instance);
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
    retryAt: offline ? known.nextCheckAt : trouble && server.retryAt,
    checkNow: offline ? network.checkNow : undefined,
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

type Trouble = 'offline' | 'down' | 'rate-limited' | undefined;

/**
 * Whether what was wrong is known to be over, since a moment ago. An outage may also be forgotten, where nobody
 * has asked for a minute, and a network be suspect.
 */
function useBack(trouble: Trouble, network: NetworkState, { origins }: Instance): boolean {
  const recoveredAt = Math.max(
    ...[...origins.admissions.values()].map((one) => one.outcomes.recoveredAt()),
  );
  const [was, setWas] = useState({ trouble, recoveredAt });
  const isNews = was.trouble !== trouble || was.recoveredAt !== recoveredAt;
  if (trouble && isNews) setWas({ trouble, recoveredAt });
  const isForgotten = was.trouble === 'down' && recoveredAt <= was.recoveredAt;
  if (!trouble && isForgotten) setWas({ trouble, recoveredAt });
  const isBack = !trouble && !!was.trouble && !isForgotten && network.status !== 'suspect';
  useEffect(() => {
    if (!isBack) return undefined;
    const end = (): void => setWas({ trouble: undefined, recoveredAt: 0 });
    const timer = systemClock.setTimeout(end, backMs);
    return () => systemClock.clearTimeout(timer);
  }, [isBack]);
  return isBack;
}

/** As `useConnectivity` has it, where somebody watches the network. */
interface NetworkState {
  readonly status: 'online' | 'suspect' | 'offline';
  readonly nextCheckAt: number | undefined;
}

interface NetworkView extends Readable<NetworkState> {
  readonly checkNow?: () => void;
}

const online: NetworkState = { status: 'online', nextCheckAt: undefined };
const unwatched: NetworkState = { status: 'offline', nextCheckAt: undefined };

function networkOf({ connectivity }: Instance): NetworkView {
  return (
    connectivity ?? {
      subscribe: (listener) => onlineManager.subscribe(listener),
      getState: () => (onlineManager.isOnline() ? online : unwatched),
    }
  );
}
