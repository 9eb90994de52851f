import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { createBucket } from '../policies/budgets.ts';
import { putQueryInto } from '../policies/query-environment.ts';
import { axiosRetry } from '../policies/axios-retry.ts';
import { cockatielBreaker } from '../policies/cockatiel.ts';
import { ky } from '../policies/ky.ts';
import type { OpenTab, TabContext } from '../policies/policy.ts';
import { type AttemptError, send } from '../policies/send.ts';
import { createSteady } from '../policies/steadfetch.ts';

/** What a page is made with. */
export type PageContext = Omit<TabContext, 'share' | 'isBackground'> &
  Partial<Pick<TabContext, 'share'>>;

/** What is told of a query that is shown. */
interface QueryListener {
  /** What its user sees first: an answer, or an error. */
  readonly onOutcome?: (isOk: boolean) => void;
  /** It is paused. */
  readonly onPause?: () => void;
}

/** A page of an app on React Query: its queries are shown by components. */
export interface Page {
  /** A component shows a query, until the returned function is called or the page is closed. */
  readonly show: (url: string, listener: QueryListener) => () => void;
  readonly close: () => void;
}

export interface OpenPage {
  (context: PageContext): Page;
  /** As that of a tab. */
  readonly makesRequests?: boolean;
}

/** How a page fetches and retries: all that differs between policies. */
interface Parts {
  readonly client: QueryClient;
  readonly queryFn: (url: string) => (context: { readonly signal: AbortSignal }) => unknown;
  /** Tells of each pause, until the returned function is called; without it nothing is ever paused. */
  readonly watchPauses?: (onPause: (queryKey: readonly unknown[]) => void) => () => void;
  readonly dispose?: () => void;
}

function openWith(createParts: (context: PageContext) => Parts): OpenPage {
  return (context) => {
    putQueryInto(context.clock);
    const { client, queryFn, watchPauses, dispose } = createParts(context);
    const stops = new Set<() => void>();
    client.mount();
    return {
      show(url, { onOutcome, onPause }) {
        const observer = new QueryObserver(client, { queryKey: [url], queryFn: queryFn(url) });
        let isTold = false;
        const stopWatching =
          onPause &&
          watchPauses?.(([of]) => {
            if (of === url && !isTold) onPause();
          });
        const unsubscribe = observer.subscribe(({ status }) => {
          if (isTold || status === 'pending') return;
          isTold = true;
          onOutcome?.(status === 'success');
        });
        const stop = (): void => {
          unsubscribe();
          stopWatching?.();
        };
        stops.add(stop);
        return () => {
          stop();
          stops.delete(stop);
        };
      },
      close() {
        for (const stop of stops) stop();
        client.clear();
        client.unmount();
        dispose?.();
      },
    };
  };
}

/** The longest wait of a plain retry with full jitter. */
const capMs = 30_000;

/** React Query with other retries than its own; each attempt has a time limit, where there is one. */
const reactQueryWith = (
  createQueries: (context: PageContext) => {
    readonly retry?: number | ((count: number) => boolean);
    readonly retryDelay?: (failureCount: number, error: unknown) => number;
    readonly onSuccess?: () => void;
  },
): OpenPage =>
  openWith((context) => {
    const { onSuccess, ...queries } = createQueries(context);
    return {
      client: new QueryClient({ defaultOptions: { queries } }),
      queryFn: (url) => async () => {
        const response = await send(context, url);
        onSuccess?.();
        return response.status;
      },
    };
  });

/** The retries of another client inside React Query, which sends nothing again then: two loops multiply. */
const clientInReactQuery = (openTab: OpenTab): OpenPage => {
  const openPage = openWith((context) => {
    const ask = openTab({ ...context, share: undefined, isBackground: false });
    return {
      client: new QueryClient({ defaultOptions: { queries: { retry: false } } }),
      queryFn: (url) => () => ask(url),
    };
  });
  return Object.assign(openPage, { makesRequests: openTab.makesRequests === true });
};

const fullJitterMs = (random: () => number, failureCount: number, error: unknown): number =>
  (error as AttemptError).retryAfterMs ?? random() * Math.min(capMs, 1000 * 2 ** failureCount);

/** The policies that a page can have, each in React Query. */
export const pagePolicies = {
  steadfetch: openWith((context) => {
    const { steady, initOf } = createSteady({ share: undefined, ...context, isBackground: false });
    return {
      client: new QueryClient({ defaultOptions: steady.defaultOptions }),
      queryFn(url) {
        let attempt = 0;
        return ({ signal }) => steady.json(url, initOf(url, signal, ++attempt));
      },
      watchPauses: (onPause) =>
        steady.subscribe((event) => {
          if (event.type === 'pause:start') onPause(event.operation.queryKey ?? []);
        }),
      dispose: steady.dispose,
    };
  }),
  /** Its defaults: three retries after 1, 2 and 4 s. */
  'react-query': reactQueryWith(() => ({})),
  /** Three retries, paid from a tab's bucket of 3, to which each success adds a tenth. */
  'full-jitter-budget': reactQueryWith(({ random }) => {
    const budget = createBucket();
    return {
      retry: (count) => count < 3 && budget.mayRetry(),
      retryDelay: (count, error) => fullJitterMs(random, count, error),
      onSuccess: budget.onSuccess,
    };
  }),
  ky: clientInReactQuery(ky),
  'axios-retry': clientInReactQuery(axiosRetry),
  cockatiel: clientInReactQuery(cockatielBreaker),
  /** No retries at all. */
  none: reactQueryWith(() => ({ retry: 0 })),
  /** Eight retries; Retry-After is obeyed to the second. */
  'full-jitter-8': reactQueryWith(({ random }) => ({
    retry: 8,
    retryDelay: (count, error) => fullJitterMs(random, count, error),
  })),
} as const satisfies Readonly<Record<string, OpenPage>>;

export type PagePolicyName = keyof typeof pagePolicies;
