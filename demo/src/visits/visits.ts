import { onlineManager } from '@tanstack/react-query';
import { kites } from '../api/kites.ts';
import type { MockApi } from '../api/mock-api.ts';
import type { Recorder } from '../recorder/recorder.ts';
import { isCheckout } from '../checkout/hash.ts';
import { isOutbox } from '../outbox/hash.ts';
import { queryClient } from '../steady.ts';
import { createVisit, formatHash, parseHash, type Visit, type VisitPlan } from './visit.ts';

/** The visit that is on the screen. The URL hash says which one it is. */
export interface Visits {
  readonly getState: () => Visit;
  readonly subscribe: (listener: () => void) => () => void;
  /** Goes to another scenario, or begins the same one again. */
  readonly go: (plan: VisitPlan) => void;
  /** Fetches once more; what is on the page stays there. */
  readonly reload: () => void;
}

/** How long ago the catalogue of a loaded page is said to have come. */
const loadedBeforeMs = 60 * 60 * 1000;

export function createVisits(api: MockApi, recorder: Recorder): Visits {
  const listeners = new Set<() => void>();

  const begin = (plan: VisitPlan): Visit => {
    const next = createVisit(plan);
    const { queryKey } = next.query;
    api.play(plan.scenario.id);
    onlineManager.setOnline(plan.scenario.id !== 'offline');
    recorder.follow(queryKey);
    if (plan.startsLoaded) {
      queryClient.setQueryData(queryKey, kites, { updatedAt: Date.now() - loadedBeforeMs });
    }
    return next;
  };
  let visit = begin(parseHash(location.hash));

  // The page lets go of the visit before, and its query ends with that, whatever it waited for.
  const replace = (plan: VisitPlan): void => {
    visit = begin(plan);
    for (const listener of listeners) listener();
  };
  window.addEventListener('hashchange', () => {
    if (isCheckout(location.hash) || isOutbox(location.hash)) onlineManager.setOnline(true);
    else replace(parseHash(location.hash));
  });

  return {
    getState: () => visit,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    go(plan) {
      const hash = formatHash(plan);
      if (hash === location.hash) replace(plan);
      else location.hash = hash;
    },
    reload() {
      api.play(visit.scenario.id);
      void queryClient.refetchQueries({ queryKey: visit.query.queryKey });
    },
  };
}
