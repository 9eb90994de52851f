import { useLayoutEffect, useSyncExternalStore } from 'react';
import type { KeptState } from '../api/kept-state.ts';
import { setPlugged } from '../api/plug.ts';
import { type Desk, type Server, type Side, sides } from '../api/server.ts';
import type { Trouble } from '../api/troubles.ts';
import type { Recorder } from './recorder.ts';

/** Both sides of an act, in one run: the same trouble, from the same moment. */
export interface Session<S extends Desk = Desk> {
  readonly desks: Readonly<Record<Side, KeptState<S>>>;
  readonly recorder: Recorder;
  readonly keepsRun: boolean;
  /** What goes wrong from now on. Another trouble is another run, unless `keepsRun`. */
  readonly play: (trouble: Trouble) => void;
  readonly startOver: () => void;
}

interface Options<S extends Desk> {
  readonly desks: Readonly<Record<Side, KeptState<S>>>;
  readonly servers: Readonly<Record<Side, Server>>;
  readonly recorder: Recorder;
  readonly empty: S;
  /** What was done stays done when something else goes wrong. */
  readonly keepsRun?: boolean;
}

export function createSession<S extends Desk>(options: Options<S>): Session<S> {
  const { desks, servers, recorder, empty, keepsRun = false } = options;
  let playing: Trouble | undefined;
  const begin = (trouble: Trouble): void => {
    for (const side of sides) {
      servers[side].play(trouble);
      desks[side].update(({ run }) => ({ ...empty, run: run + 1, trouble: trouble.id }));
    }
    recorder.clear();
  };
  return {
    desks,
    recorder,
    keepsRun,
    play(trouble) {
      playing = trouble;
      setPlugged(trouble.isOffline !== true);
      const kept = desks.alone.getState();
      const isNew = kept.run === 0 || (kept.trouble !== trouble.id && !keepsRun);
      if (isNew) return begin(trouble);
      for (const side of sides) {
        servers[side].play(trouble);
        if (kept.trouble === trouble.id) continue;
        desks[side].update((state) => ({
          ...state,
          trouble: trouble.id,
          nth: 0,
          startedAt: undefined,
        }));
      }
    },
    startOver() {
      if (playing) begin(playing);
    },
  };
}

/** The run that is on the screen; undefined until its trouble is played. */
export function useRun<S extends Desk>(session: Session<S>, trouble: Trouble): number | undefined {
  const { alone } = session.desks;
  const { run, trouble: played } = useSyncExternalStore(alone.subscribe, alone.getState);
  useLayoutEffect(() => {
    session.play(trouble);
    return () => setPlugged(true);
  }, [session, trouble]);
  const isPlayed = session.keepsRun || played === trouble.id;
  return isPlayed && run > 0 ? run : undefined;
}
