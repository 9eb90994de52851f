import type { TabState } from './tab-state.ts';
import type { Trouble } from './troubles.ts';

/** What goes wrong, and how often it has since the last answer that arrived. */
export interface Strikes {
  readonly trouble: string;
  readonly failureCount: number;
}

/** Makes the requests of a shop fail as a trouble wants it. */
export interface TroubleMaker<T> {
  /** What goes wrong from now on. */
  readonly play: (trouble: T) => void;
  readonly playing: () => T | undefined;
  /** What goes wrong at this point, if anything does. */
  readonly strike: (
    info: { readonly request: Request },
    point: Trouble['strikes'],
  ) => ReturnType<Trouble['fault']> | undefined;
}

/** Counts in what outlives a reload: a page may be left before the answer is. */
export function createTroubleMaker<S extends Strikes, T extends Trouble<string>>(
  state: TabState<S>,
): TroubleMaker<T> {
  let trouble: T | undefined;
  return {
    play(next) {
      trouble?.fault.reset();
      trouble = next;
      if (state.getState().trouble === next.id) return;
      state.update((now) => ({ ...now, trouble: next.id, failureCount: 0 }));
    },
    playing: () => trouble,
    strike(info, point) {
      const { failureCount } = state.getState();
      if (trouble?.strikes !== point || failureCount >= trouble.times) return undefined;
      state.update((now) => ({ ...now, failureCount: failureCount + 1 }));
      return trouble.fault(info);
    },
  };
}
