import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useState } from 'react';
import { useMutationStatus, useRetryStatus } from '../core/react/use-status.ts';
import { inDevelopment } from '../core/lib/development.ts';
import { reject } from '../core/lib/input/check.ts';
import type { MutationTarget, RetryControls, RetryState } from '../core/internal.ts';
import { Action, Countdown, Frame, Announcement, useNews, usePress } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';
import { type StatusWords, useAnnounced, wordsOf } from './texts/words.ts';

/** The argument of a `RetryStatus` render prop. */
export interface RetryStatusView extends RetryState, RetryControls, StatusWords {}

/** The props of {@link RetryStatus}. */
export type RetryStatusProps = (
  | { readonly query: QueryKey; readonly mutation?: never }
  /** The key of a mutation, or the `target` of a hook. */
  | { readonly mutation: QueryKey | MutationTarget; readonly query?: never }
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
    if (!query && !mutation)
      reject('RetryStatus', 'query', query, 'a key, or mutation must be a key or a target');
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
  readonly of: QueryKey | MutationTarget;
  readonly children: Draw;
}): ReactElement {
  const target = 'mutation' in of ? of : { mutationKey: of, mutation: undefined };
  const state = useMutationStatus(target as MutationTarget);
  return (
    <StatusView kind="mutation" state={state}>
      {children}
    </StatusView>
  );
}

/** The state when this component first showed this target, and the status before the current attempt. */
function useBefore(state: RetryState & RetryControls): {
  readonly first: RetryState;
  readonly before: RetryState['status'];
} {
  const { status, retryNow } = state;
  // Each target has its own controls.
  const begun = { of: retryNow, first: state, before: status };
  const [known, setKnown] = useState(begun);
  const isOther = known.of !== retryNow;
  const isNews = status !== 'sending' && status !== known.before;
  const seen = isOther ? begun : isNews ? { ...known, before: status } : known;
  if (seen !== known) setKnown(seen);
  return seen;
}

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
  const { status, attempt, retryAt, reason, retryNow, cancel } = state;
  const { first, before } = useBefore(state);
  // Retry now on a query is a new fetch, which counts its own attempts.
  const wasTrouble = before === 'waiting' || before === 'paused' || before === 'failed';
  const isAgain = attempt > 1 || (kind === 'query' && wasTrouble);
  const words = wordsOf(state, kind, texts, isAgain, hasData);
  const announced = useAnnounced(words, state, texts);
  const isSending = status === 'sending';
  const [isPressed, press] = usePress(isSending);
  const onRetry = (): void => {
    press();
    retryNow();
  };
  // Data that was loaded before the component appeared is not news.
  const isOld = kind === 'query' && status === 'succeeded' && state === first;
  const isUnderWay = status === 'waiting' || status === 'paused' || status === 'sending';
  const isOver = status === 'failed' || status === 'unknown';
  const isAlert = isOver && reason !== 'cancelled';
  const news = useNews(
    { text: isOld ? '' : announced, isAlert },
    isSending && isAgain && !isPressed,
  );
  const isShown = words.title !== '' && status !== 'succeeded';
  const isRetried = isUnderWay && (!isSending || isAgain);
  // A mutation that has ended is repeated with its own button.
  const canRetry = isRetried || (isOver && kind === 'query');
  return (
    <Frame className="steadfetch-status" label={texts[kind].label} state={status}>
      {children
        ? children({ ...state, ...words, retryNow: onRetry })
        : isShown && (
            <>
              <p className="steadfetch-title">{words.title}</p>
              {words.detail && <p className="steadfetch-detail">{words.detail}</p>}
              {isUnderWay && <Countdown retryAt={retryAt} label={texts.nextAttemptIn} />}
              {(canRetry || isUnderWay) && (
                <div className="steadfetch-actions">
                  {canRetry && (
                    <Action label={texts.retryNow} onPress={onRetry} isPrimary isIdle={isSending} />
                  )}
                  {isUnderWay && <Action label={texts.cancel} onPress={cancel} />}
                </div>
              )}
            </>
          )}
      <Announcement {...news} />
    </Frame>
  );
}
