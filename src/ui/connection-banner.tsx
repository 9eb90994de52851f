import { onlineManager, useQueryClient } from '@tanstack/react-query';
import {
  type ReactElement,
  type ReactNode,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
} from 'react';
import { systemClock } from '../core/lib/clock.ts';
import { keepIfSame, type Readable } from '../core/lib/store.ts';
import {
  UnloadedQueries,
  findInstance,
  loaded,
  type Instance,
  type OriginState,
  type Unloaded,
} from '../core/internal.ts';
import { useOriginStatus } from '../core/react/use-origin-status.ts';
import { Action, Announcement, Frame, usePress, Words } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';

/** The argument of a `ConnectionBanner` render prop. */
export interface ConnectionView {
  /**
   * `missing`: the server works, but a query on screen has no data, because its endpoint is down or an outage
   * made it fail. `stale`: the same for queries with data. `back`: the trouble is over, shown for a few
   * seconds.
   */
  readonly status: 'well' | 'offline' | 'down' | 'rate-limited' | 'missing' | 'stale' | 'back';
  readonly title: string;
  readonly detail: string;
  /** When the network is next checked, or the server next tried, in epoch milliseconds. */
  readonly retryAt: number | undefined;
  /** Checks the network now; undefined if no instance watches it, or while it is available. */
  readonly checkNow: (() => void) | undefined;
  /**
   * Probes what is down, once for all requests that wait for it, and refetches the queries that failed. If no
   * instance watches the network, also sends the queries that wait for it. Undefined if there is nothing to
   * try, or the server asked for a pause.
   */
  readonly tryNow: (() => void) | undefined;
}

/** The props of {@link ConnectionBanner}. */
export interface ConnectionBannerProps {
  /** An origin, or any URL of it. @default the worst of all origins in use */
  readonly origin?: string | undefined;
  /** Renders the content; screen-reader announcements stay. @default the component's own content */
  readonly children?: ((view: ConnectionView) => ReactNode) | undefined;
}

/** How long the recovery is shown. */
const backMs = 5000;
/** Content missing for less than this needs no banner: a glitch, or a refetch after an outage. */
const missingMs = 2000;

/**
 * Shows that the device is offline, or that the server is down or asks for a pause; how many requests wait;
 * that part of the page cannot be loaded or refreshed while the server works; and, for five seconds, that it
 * is over, once that is known and everything is loaded. Shows nothing while all is well.
 *
 * Has a Try now button and, with `watchConnectivity`, a Check now button while offline. Without it, uses
 * React Query's `onlineManager`.
 *
 * If the QueryClient has no default options of Steadfetch, it shows nothing; in development it warns.
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
  const { isTrying, ...view } = useConnectionView(instance, origin);
  // A press gets an answer: a screen reader announces the attempt, and its result.
  const [isPressed, pressing] = usePress(isTrying);
  const [checkNow, tryNow] = [pressing(view.checkNow), pressing(view.tryNow)];
  const announced = isPressed && isTrying ? texts.query.again : view.title;
  return (
    <Frame className="steadfetch-banner" state={view.status}>
      {children
        ? children({ ...view, checkNow, tryNow })
        : view.title !== '' && (
            <Words
              {...view}
              label={view.status === 'offline' ? texts.connection.nextCheckIn : undefined}
            >
              {(checkNow || tryNow || isTrying) && (
                <Action
                  label={checkNow ? texts.connection.checkNow : texts.connection.tryNow}
                  onPress={() => (checkNow ?? tryNow)?.()}
                  isIdle={!checkNow && !tryNow}
                />
              )}
            </Words>
          )}
      <Announcement text={announced && texts.sentence(announced)} />
    </Frame>
  );
}

type Reach = 'offline' | 'down' | 'rate-limited';
type Trouble = Reach | NonNullable<Unloaded['kind']>;

interface BannerView extends ConnectionView {
  readonly isTrying: boolean;
}

const well: BannerView = {
  status: 'well',
  title: '',
  detail: '',
  retryAt: undefined,
  checkNow: undefined,
  tryNow: undefined,
  isTrying: false,
};

function useConnectionView(instance: Instance, origin: string | undefined): BannerView {
  const texts = useTexts();
  const { connection } = texts;
  const client = useQueryClient();
  const server = useOriginStatus(origin);
  const network = useMemo(() => networkOf(instance), [instance]);
  const known = useSyncExternalStore(network.subscribe, network.getState, () => online);
  const queries = useMemo(
    () => new UnloadedQueries(client, instance, origin),
    [client, instance, origin],
  );
  const unloaded = useSyncExternalStore(queries.subscribe, queries.getState, () => loaded);
  const reach = reachOf(known, server);
  const isMissing = useLasting(!reach && unloaded.kind !== undefined);
  const trouble: Trouble | undefined = reach ?? (isMissing ? unloaded.kind : undefined);
  const over = useOver(trouble, unloaded, known, instance);
  if (!trouble) return over ? { ...well, status: 'back', title: connection[over] } : well;
  const { checkNow } = network;
  const { tryNow } = queries;
  const isTrying = trouble !== 'rate-limited' && (unloaded.isSending || isProbing(instance));
  const part = () => ({ retryAt: unloaded.retryAt, tryNow });
  const next: Readonly<Record<Trouble, () => Partial<BannerView>>> = {
    offline: () => ({
      retryAt: known.nextCheckAt,
      checkNow,
      tryNow: !checkNow && unloaded.isOffline ? tryNow : undefined,
    }),
    down: () => ({
      retryAt: server.retryAt,
      tryNow: server.waiting > 0 || unloaded.kind ? tryNow : undefined,
    }),
    'rate-limited': () => ({ retryAt: server.retryAt }),
    missing: part,
    stale: part,
  };
  const waiting = reach && server.waiting > 0 ? connection.waiting(server.waiting) : '';
  return {
    ...well,
    status: trouble,
    title: connection[trouble],
    detail: isTrying ? texts.sentence(texts.query.again) : waiting,
    isTrying,
    ...next[trouble](),
  };
}

function reachOf(network: NetworkState, { status }: OriginState): Reach | undefined {
  if (network.status === 'offline') return 'offline';
  return status === 'down' || status === 'rate-limited' ? status : undefined;
}

/** Whether a probe is in flight. */
const isProbing = ({ origins }: Instance): boolean =>
  [...origins.admissions.values()].some(({ origin }) =>
    origin.health.down().some(({ probes }) => probes.isProbing()),
  );

/** Whether a condition has lasted for a while. */
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

/** The text for the trouble that has just ended, with everything loaded again, and the network not suspect. */
function useOver(
  trouble: Trouble | undefined,
  { kind, restored }: Unloaded,
  network: NetworkState,
  { origins }: Instance,
): 'back' | 'restored' | undefined {
  const recoveredAt = Math.max(
    ...[...origins.admissions.values()].map((one) => one.outcomes.recoveredAt),
  );
  const now: Seen = { trouble, recoveredAt, restored };
  const [was, setWas] = useState(now);
  if (trouble && keepIfSame(was, now) !== was) setWas(now);
  const hasLapsed = !trouble && isForgotten(was, now, kind);
  if (hasLapsed) setWas(now);
  const isOver = !trouble && !kind && !!was.trouble && !hasLapsed && network.status !== 'suspect';
  useEffect(() => {
    if (!isOver) return undefined;
    const end = (): void => setWas({ trouble: undefined, recoveredAt: 0, restored: 0 });
    const timer = systemClock.setTimeout(end, backMs);
    return () => systemClock.clearTimeout(timer);
  }, [isOver]);
  if (!isOver) return undefined;
  return /^(offline|down)$/.test(was.trouble) ? 'back' : 'restored';
}

/** A trouble, and the latest recovery of anything. */
interface Seen {
  readonly trouble: Trouble | undefined;
  readonly recoveredAt: number;
  readonly restored: number;
}

/** Whether an outage was forgotten after a minute without requests, or the missing content left the page. */
function isForgotten(was: Seen, { recoveredAt, restored }: Seen, kind: Unloaded['kind']): boolean {
  if (was.trouble === 'down') return recoveredAt <= was.recoveredAt;
  const isPart = was.trouble === 'missing' || was.trouble === 'stale';
  return isPart && !kind && restored <= was.restored;
}

/** The state of `useConnectivity`, if the network is watched. */
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
