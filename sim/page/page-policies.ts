import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { putQueryInto } from '../policies/query-environment.ts';
import type { TabContext } from '../policies/policy.ts';
import { type AttemptError, send } from '../policies/send.ts';
import { createSteady } from '../policies/steadfetch.ts';

/** What a page is made with. */
export type PageContext = Omit<TabContext, 'share'>;

/** A page of an app on React Query: its queries are shown by components. */
interface Page {
  /** A component shows a query, until the page is closed; the outcome is what its user sees first. */
  readonly show: (url: string, onOutcome: (isOk: boolean) => void) => void;
  readonly close: () => void;
}

export type OpenPage = (context: PageContext) => Page;

/** How a page fetches and retries: all that differs between policies. */
interface Parts {
  readonly client: QueryClient;
  readonly queryFn: (url: string) => (context: { readonly signal: AbortSignal }) => unknown;
  readonly dispose?: () => void;
}

function openWith(createParts: (context: PageContext) => Parts): OpenPage {
  return (context) => {
    putQueryInto(context.clock);
    const { client, queryFn, dispose } = createParts(context);
    const stops: (() => void)[] = [];
    client.mount();
    return {
      show(url, onOutcome) {
        const observer = new QueryObserver(client, { queryKey: [url], queryFn: queryFn(url) });
        let isTold = false;
        const look = ({ status }: { readonly status: string }): void => {
          if (isTold || status === 'pending') return;
          isTold = true;
          onOutcome(status === 'success');
        };
        stops.push(observer.subscribe(look));
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
        const response = await send({ ...context, share: undefined }, url);
        onSuccess?.();
        return response.status;
      },
    };
  });

const fullJitterMs = (random: () => number, failureCount: number, error: unknown): number =>
  (error as AttemptError).retryAfterMs ?? random() * Math.min(capMs, 1000 * 2 ** failureCount);

/** The policies that a page can have, each in React Query. */
export const pagePolicies = {
  steadfetch: openWith((context) => {
    const steady = createSteady({ ...context, share: undefined });
    return {
      client: new QueryClient({ defaultOptions: steady.defaultOptions }),
      queryFn:
        (url) =>
        ({ signal }) =>
          steady.json(url, { signal }),
      dispose: steady.dispose,
    };
  }),
  /** Its defaults: three retries after 1, 2 and 4 s. */
  'react-query': reactQueryWith(() => ({})),
  /** Eight retries; Retry-After is obeyed to the second. */
  'full-jitter-8': reactQueryWith(({ random }) => ({
    retry: 8,
    retryDelay: (count, error) => fullJitterMs(random, count, error),
  })),
} as const satisfies Readonly<Record<string, OpenPage>>;

export type PagePolicyName = keyof typeof pagePolicies;
