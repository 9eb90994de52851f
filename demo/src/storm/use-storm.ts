import { useCallback, useEffect, useRef, useState } from 'react';
import { runInWorker } from './run-in-worker.ts';
import type { PolicyName, Run, Scenario, Storm } from './storm.ts';

export interface StormRuns {
  readonly storm: Storm;
  /** Absent: nothing is being run. */
  readonly isRunning: boolean;
  /** Why the last one could not be run. */
  readonly problem: string | undefined;
  readonly run: (rival: PolicyName, scenario: Scenario) => void;
  readonly cancel: () => void;
}

/** How many seconds come at once into the picture of a storm that is being run. */
const secondsPerPicture = 5;

/** A storm to show, and the way to another one: each policy runs in a worker of its own. */
export function useStorm(first: Storm): StormRuns {
  const [storm, setStorm] = useState(first);
  const [isRunning, setIsRunning] = useState(false);
  const [problem, setProblem] = useState<string>();
  const current = useRef<AbortController>(undefined);

  const cancel = useCallback(() => {
    current.current?.abort();
    current.current = undefined;
    setIsRunning(false);
  }, []);

  const run = useCallback((rival: PolicyName, scenario: Scenario) => {
    current.current?.abort();
    const controller = new AbortController();
    const { signal } = controller;
    current.current = controller;
    const runs: [Run, Run] = [
      { policy: rival, seconds: [] },
      { policy: 'steadfetch', seconds: [] },
    ];
    const show = (): void => setStorm({ scenario, runs: [...runs] });
    const runOne = (index: 0 | 1): Promise<void> =>
      runInWorker(
        { work: 'storm', policy: runs[index].policy, scenario },
        (reply) => {
          const { seconds, ...rest } = runs[index];
          if (reply.kind === 'second') {
            runs[index] = { ...rest, seconds: [...seconds, reply.second] };
            // Drawing each one would take the workers' time.
            if (seconds.length % secondsPerPicture > 0) return;
          } else if (reply.kind === 'storm') {
            runs[index] = { ...rest, seconds, figures: reply.figures };
          }
          show();
        },
        signal,
      );
    setProblem(undefined);
    setIsRunning(true);
    show();
    Promise.all([runOne(0), runOne(1)])
      .catch((error: unknown) => {
        if (signal.aborted) return;
        controller.abort();
        setProblem(error instanceof Error ? error.message : String(error));
      })
      .finally(() => {
        if (current.current === controller) setIsRunning(false);
      });
  }, []);

  useEffect(() => cancel, [cancel]);
  return { storm, isRunning, problem, run, cancel };
}
