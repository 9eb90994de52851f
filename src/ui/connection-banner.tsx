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
import { findInstance, type Instance } from '../react-query/instance.ts';
import { createUnloaded, loaded, type Unloaded } from '../react-query/status/unloaded.ts';
import { useOriginStatus } from '../react/use-origin-status.ts';
import { Action, Countdown, Frame, Told, usePress } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';

/** What a render prop of `ConnectionBanner` is given. */
export interface ConnectionView {
  /**
   * `missing`: the server works, and a query on screen without data waits for an endpoint that is down, or
   * has failed by an outage. `stale`: the same of queries with data. `back`: what was wrong is over, for a
   * few seconds.
   */
  readonly status: 'well' | 'offline' | 'down' | 'rate-limited' | 'missing' | 'stale' | 'back';
  readonly title: string;
  readonly detail: string;
  /** When the network is checked, or the server tried next, in epoch milliseconds. */
  readonly retryAt: number | undefined;
  /** Checks the network now; undefined where nothing watches it, or while it is there. */
  readonly checkNow: (() => void) | undefined;
  /**
   * Probes what is down, once for all that wait for it, and fetches the queries that have failed; where nothing
   * watches the network, also those that wait for it. Undefined where there is nothing to try, or the server
   * has asked for a pause.
   */
  readonly tryNow: (() => void) | undefined;
}

/** Whose connection is shown, and how. */
export interface ConnectionBannerProps {
  /** An origin, or any URL of it. @default the worst of all that requests have gone to */
  readonly origin?: string | undefined;
  /** Draws it; what a screen reader hears stays. @default what the component draws */
  readonly children?: ((view: ConnectionView) => ReactNode) | undefined;
}

/** How long it is said that all is well again. */
const backMs = 5000;
/** What is missing for less time is not worth a banner: a glitch, or what is fetched again after an outage. */
const missingMs = 2000;

/**
 * Says that the device is offline, the server is down, or asks for a pause; how many requests wait; that a part
 * of the page cannot be loaded, or not be refreshed, while the server works; and, for five seconds, that it is
 * over, where that is known and everything was loaded. It shows nothing while all is well.
 *
 * It has a Try now, and with `watchConnectivity` a Check now while the device is offline. Without, it goes by
 * React Query's `onlineManager`.
 *
 * Where the QueryClient carries no default options of Steadfetch it shows nothing; in development a warning says so.
 *
 * @example
 * ```tsx
 * import { ConnectionBanner } from 'steadfetch/ui';
 *
 * export const Header = () => <ConnectionBanner origin="https://api.example" />;
 * ```
 */
export function ConnectionBanner(props: ConnectionBannerProps): ReactElement | null {
  const instance = findInstance(useQueryClient(), 'ConnectionBanner');
  return instance ? <Banner {...props} instance={instance} /> : null;
}

function Banner({
  origin,
  children,
  instance,
}: ConnectionBannerProps & { readonly instance: Instance }): ReactElement {
  const texts = useTexts();
  const { isTrying, offline, ...view } = useConnectionView(instance, origin);
  // A press is answered: it is heard that something is tried, and what has come of it.
  const [isPressed, press] = usePress(isTrying);
  const pressing = (act: (() => void) | undefined): (() => void) | undefined =>
    act &&
    (() => {
      press();
      act();
    });
  const [checkNow, tryNow] = [pressing(view.checkNow), pressing(view.tryNow)];
  const heard = isPressed && isTrying ? texts.query.again : view.title;
  return (
    <Frame name="banner" state={view.status}>
      {children
        ? children({ ...view, checkNow, tryNow })
        : view.title !== '' && (
            <>
              <p className="steadfetch-title">{view.title}</p>
              {view.detail && <p className="steadfetch-detail">{view.detail}</p>}
              <Countdown
                retryAt={view.retryAt}
                label={offline ? texts.connection.nextCheckIn : texts.nextAttemptIn}
              />
              {(checkNow || tryNow || isTrying) && (
                <div className="steadfetch-actions">
                  <Action
                    label={checkNow ? texts.connection.checkNow : texts.connection.tryNow}
                    onPress={() => (checkNow ?? tryNow)?.()}
                    isIdle={!checkNow && !tryNow}
                  />
                </div>
              )}
            </>
          )}
      <Told text={heard && texts.sentence(heard)} />
    </Frame>
  );
}

type Trouble = 'offline' | 'down' | 'rate-limited' | 'missing' | 'stale';

function useConnectionView(
  instance: Instance,
  origin: string | undefined,
): ConnectionView & { readonly isTrying: boolean; readonly offline: boolean } {
  const texts = useTexts();
  const { connection } = texts;
  const client = useQueryClient();
  const server = useOriginStatus(origin);
  const network = useMemo(() => networkOf(instance), [instance]);
  const known = useSyncExternalStore(network.subscribe, network.getState, () => online);
  const queries = useMemo(
    () => createUnloaded(client, instance, origin),
    [client, instance, origin],
  );
  const unloaded = useSyncExternalStore(queries.subscribe, queries.getState, () => loaded);
  const offline = known.status === 'offline';
  const reach = offline
    ? 'offline'
    : server.status === 'down' || server.status === 'rate-limited'
      ? server.status
      : undefined;
  const isMissing = useLasting(!reach && unloaded.kind !== undefined);
  const part = isMissing ? unloaded.kind : undefined;
  const trouble: Trouble | undefined = reach ?? part;
  const over = useOver(trouble, unloaded, known, instance);
  const wasAway = over === 'offline' || over === 'down';
  const isTrying =
    !!trouble && trouble !== 'rate-limited' && (unloaded.isSending || isProbing(instance));
  const isWaited = reach === 'down' && (server.waiting > 0 || unloaded.kind !== undefined);
  const isUnwatched = offline && !network.checkNow && unloaded.isOffline;
  const waiting = reach && server.waiting > 0 ? connection.waiting(server.waiting) : '';
  return {
    status: trouble ?? (over ? 'back' : 'well'),
    title: trouble ? connection[trouble] : over ? connection[wasAway ? 'back' : 'restored'] : '',
    detail: isTrying ? texts.sentence(texts.query.again) : waiting,
    retryAt: offline ? known.nextCheckAt : reach ? server.retryAt : part && unloaded.retryAt,
    checkNow: offline ? network.checkNow : undefined,
    tryNow: part || isWaited || isUnwatched ? queries.tryNow : undefined,
    isTrying,
    offline,
  };
}

/** Whether the answer to a probe is waited for. */
const isProbing = ({ origins }: Instance): boolean =>
  [...origins.admissions.values()].some(({ origin }) =>
    origin.health.down().some(({ probes }) => probes.isProbing()),
  );

/** Whether something has been so for a while. */
function useLasting(isSo: boolean): boolean {
  const [isLasting, setIsLasting] = useState(false);
  useEffect(() => {
    if (!isSo) return undefined;
    const timer = systemClock.setTimeout(() => setIsLasting(true), missingMs);
    return () => {
      systemClock.clearTimeout(timer);
      setIsLasting(false);
    };
  }, [isSo]);
  return isSo && isLasting;
}

/**
 * What is known to be over, since a moment ago, with everything loaded. An outage may also be forgotten, where
 * nothing was requested for a minute, a network be suspect, and what was missing be gone from the page.
 */
function useOver(
  trouble: Trouble | undefined,
  { kind, restored }: Unloaded,
  network: NetworkState,
  { origins }: Instance,
): Trouble | undefined {
  const recoveredAt = Math.max(
    ...[...origins.admissions.values()].map((one) => one.outcomes.recoveredAt()),
  );
  const [was, setWas] = useState({ trouble, recoveredAt, restored });
  const isNews =
    was.trouble !== trouble || was.recoveredAt !== recoveredAt || was.restored !== restored;
  if (trouble && isNews) setWas({ trouble, recoveredAt, restored });
  const isPart = was.trouble === 'missing' || was.trouble === 'stale';
  const isForgotten =
    (was.trouble === 'down' && recoveredAt <= was.recoveredAt) ||
    (isPart && !kind && restored <= was.restored);
  if (!trouble && isForgotten) setWas({ trouble, recoveredAt, restored });
  const isOver = !trouble && !kind && !!was.trouble && !isForgotten && network.status !== 'suspect';
  useEffect(() => {
    if (!isOver) return undefined;
    const end = (): void => setWas({ trouble: undefined, recoveredAt: 0, restored: 0 });
    const timer = systemClock.setTimeout(end, backMs);
    return () => systemClock.clearTimeout(timer);
  }, [isOver]);
  return isOver ? was.trouble : undefined;
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
