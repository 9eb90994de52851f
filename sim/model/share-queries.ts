import type { Ask } from '../policies/policy.ts';

/** A fetch under way, and how many wait for it. */
interface Shared {
  readonly controller: AbortController;
  readonly result: Promise<unknown>;
  waiting: number;
}

/** Lets those who ask for one query share the fetch that is under way; the last to leave ends it. */
export function shareQueries(ask: Ask): Ask {
  const underWay = new Map<number | undefined, Shared>();

  const start = (query: number | undefined): Shared => {
    const controller = new AbortController();
    const result = ask({ query, signal: controller.signal });
    const shared = { controller, result, waiting: 0 };
    underWay.set(query, shared);
    const forget = (): void => {
      if (underWay.get(query) === shared) underWay.delete(query);
    };
    result.then(forget, forget);
    return shared;
  };

  return ({ query, signal }) => {
    const shared = underWay.get(query) ?? start(query);
    shared.waiting++;
    signal?.addEventListener('abort', () => {
      if (--shared.waiting > 0) return;
      if (underWay.get(query) === shared) underWay.delete(query);
      shared.controller.abort();
    });
    return shared.result;
  };
}
