import { shown } from '../lib/input/url.ts';
import { warn } from '../lib/input/warn.ts';

/** What is known of the attempt. */
interface Attempted {
  readonly isSingle: boolean | undefined;
  readonly failedRequests?: ReadonlySet<string> | undefined;
}

const rule =
  'Two retry loops multiply: three tries in each of two are nine requests. Turn the inner one off';

/** For development: a request that has failed is sent again within one attempt. */
export function warnOfLoop(instance: object, operation: Attempted, name: string): void {
  if (operation.isSingle || !operation.failedRequests?.has(name)) return;
  warn(
    instance,
    `loop ${shown(name)}`,
    `${shown(name)} is sent again within one attempt of an operation. ${rule}. With ky and ofetch ` +
      `that is retry: 0, with supabase-js db: { retry: false }; remove axios-retry, fetch-retry, urql's ` +
      `retryExchange, Apollo's RetryLink, tRPC's retryLink and wretch's retry middleware.`,
    'clients.md',
  );
}

/** What some clients leave of their own retries in their errors. */
interface Retried {
  readonly config?: { readonly 'axios-retry'?: { readonly retryCount?: number } };
  readonly options?: { readonly retry?: { readonly limit?: number } };
}

/** The same, of a client whose requests are not known, by its error. */
export function warnOfInnerRetries(
  instance: object,
  { isSingle }: Attempted,
  error: unknown,
): void {
  if (isSingle) return;
  let remedy: string | undefined;
  try {
    const { config, options } = error as Retried;
    if ((config?.['axios-retry']?.retryCount ?? 0) > 0)
      remedy = 'remove axios-retry, or give it retries: 0';
    else if ((options?.retry?.limit ?? 0) > 0) remedy = 'give ky retry: 0';
  } catch {
    // Whatever was thrown says nothing of it.
  }
  if (remedy) {
    warn(
      instance,
      `inner ${remedy}`,
      `A client inside an operation retries by itself. ${rule}: ${remedy}.`,
      'clients.md',
    );
  }
}
