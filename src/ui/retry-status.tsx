import { type MutationKey, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useState } from 'react';
import { useMutationStatus, useRetryStatus } from '../core/react/use-status.ts';
import { inDevelopment } from '../core/lib/development.ts';
import { reject, requireKey } from '../core/lib/input/check.ts';
import type { MutationTarget, RetryControls, RetryState } from '../core/internal.ts';
import { Announcement, Frame, useNews, usePress, Words } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';
import { type StatusWords, useAnnounced, wordsOf } from './texts/words.ts';

/** The argument of a `RetryStatus` render prop. */
export interface RetryStatusView extends RetryState, RetryControls, StatusWords {}

/** The props of {@link RetryStatus}. */
export type RetryStatusProps = (
  | { readonly query: QueryKey; readonly mutation?: never }
  /** The key of a mutation, or the `target` of a hook. */
  | { readonly mutation: MutationKey | MutationTarget; readonly query?: never }
) & {
  /** Renders the content; screen-reader announcements stay. @default the component's own content */
  readonly children?: ((view: RetryStatusView) => ReactNode) | undefined;
};

/**
 * Shows the state of a query or a mutation that does not succeed at once: the reason, the attempt, a
 * countdown, Retry now and Cancel. Shows nothing while all is well. A screen reader announces each transition
 * once.
 *
 * If the QueryClient has no default options of Steadfetch, it shows nothing; in development it warns.
 *
 * @example
 * ```tsx
 * import { RetryStatus } from 'steadfetch/ui';
 *
 * export const ProductsStatus = () => <RetryStatus query={['products']} />;
 * ```
 */
export function RetryStatus({ query, mutation, children }: RetryStatusProps): ReactElement {
  inDevelopment(() => {
    const allowed = 'a key, or mutation must be a key or a target';
    if (query !== undefined || !mutation) requireKey('RetryStatus', 'query', query, allowed);
    else if (typeof mutation !== 'object')
      reject('RetryStatus', 'mutation', mutation, 'a key, or the target of a hook');
  });
  if (query) return <QueryStatus queryKey={query}>{children}</QueryStatus>;
  return <MutationStatus of={mutation}>{children}</MutationStatus>;
}

type Draw = RetryStatusProps['children'];

function QueryStatus({
  queryKey,
  children,
}: {
  readonly queryKey: QueryKey;
  readonly children: Draw;
}): ReactElement {
  const hasData = useQueryClient().getQueryData(queryKey) !== undefined;
  return (
    <StatusView kind="query" state={useRetryStatus({ queryKey })} hasData={hasData}>
      {children}
    </StatusView>
  );
}

function MutationStatus({
  of,
  children,
}: {
  readonly of: MutationKey | MutationTarget;
  readonly children: Draw;
}): ReactElement {
  const target = Array.isArray(of) ? { mutationKey: of as MutationKey } : of;
  const state = useMutationStatus(target as MutationTarget);
  return (
    <StatusView kind="mutation" state={state}>
      {children}
    </StatusView>
  );
}

/** The state when this component first showed this target, and the status before this one: before the current attempt. */
function useBefore(state: RetryState & RetryControls): {
  readonly first: RetryState;
  readonly before: RetryState['status'];
} {
  const { status, retryNow } = state;
  // Each target has its own controls.
  const begun = { of: retryNow, first: state, before: status, latest: status };
  const [known, setKnown] = useState(begun);
  const isOther = known.of !== retryNow;
  const isNews = status !== 'sending' && status !== known.latest;
  const seen = isOther
    ? begun
    : isNews
      ? { ...known, before: known.latest, latest: status }
      : known;
  if (seen !== known) setKnown(seen);
  return status === 'sending' ? { ...seen, before: seen.latest } : seen;
}

type Statuses = readonly RetryState['status'][];
const underWay: Statuses = ['sending', 'waiting', 'paused'];
const troubles: Statuses = ['waiting', 'paused', 'failed'];
const failures: Statuses = ['failed', 'unknown'];

function StatusView({
  kind,
  state,
  hasData = false,
  children,
}: {
  readonly kind: 'query' | 'mutation';
  readonly state: RetryState & RetryControls;
  readonly hasData?: boolean;
  readonly children: Draw;
}): ReactElement {
  const texts = useTexts();
  const { status, attempt, reason } = state;
  const { first, before } = useBefore(state);
  const isQuery = kind === 'query';
  // Retry now on a query is a new fetch, which counts its own attempts.
  const isAgain = attempt > 1 || (isQuery && troubles.includes(before));
  const words = wordsOf(state, kind, texts, isAgain, hasData);
  const announced = useAnnounced(words, state, texts);
  const isSending = status === 'sending';
  const [isPressed, pressing] = usePress(isSending);
  const retryNow = pressing(state.retryNow);
  // Data that was loaded before the component appeared is not news.
  const isOld = isQuery && status === 'succeeded' && state === first;
  const isAlert = failures.includes(status) && reason !== 'cancelled';
  const news = useNews(
    { text: isOld ? '' : announced, isAlert },
    isSending && isAgain && !isPressed,
  );
  const view = { ...state, ...words, retryNow };
  return (
    <Frame className="steadfetch-status" label={texts[kind].label} state={status}>
      {children ? children(view) : <StatusContent {...view} isQuery={isQuery} isAgain={isAgain} />}
      <Announcement {...news} />
    </Frame>
  );
}

interface StatusContentProps extends RetryStatusView {
  readonly isQuery: boolean;
  /** True if it has failed before. */
  readonly isAgain: boolean;
}

function StatusContent({ isQuery, isAgain, ...view }: StatusContentProps): ReactElement | null {
  const { status, retryAt, retryNow, cancel } = view;
  if (view.title === '' || status === 'succeeded') return null;
  const isSending = status === 'sending';
  const isUnderWay = underWay.includes(status);
  // A mutation that has ended is repeated with its own button.
  const canRetry = isUnderWay ? !isSending || isAgain : isQuery && failures.includes(status);
  return (
    <Words
      {...view}
      retryAt={isUnderWay ? retryAt : undefined}
      onRetry={canRetry ? retryNow : undefined}
      onCancel={isUnderWay ? cancel : undefined}
      isIdle={isSending}
    />
  );
}
