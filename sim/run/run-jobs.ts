import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Patch } from './patches.ts';
import type { Works } from './works.ts';

/** Enough for any run; without a limit, a worker would rather grow than collect its garbage. */
const resourceLimits = { maxOldGenerationSizeMb: 1024 };

/** What runs leave in the memory of a worker goes with it: after so many another one takes over. */
const mostInOneWorker = 6;

/** Runs jobs on all cores, the first first; the results are in the order of the jobs. */
export async function runJobs<Work extends keyof Works>(
  work: Work,
  jobs: readonly Parameters<Works[Work]>[0][],
  onProgress?: (done: number) => void,
  patches: readonly Patch[] = [],
): Promise<Awaited<ReturnType<Works[Work]>>[]> {
  type Result = Awaited<ReturnType<Works[Work]>>;
  const results: Result[] = [];
  let next = 0;
  let done = 0;

  /** Runs jobs in a worker until it has run enough, or there are no more. */
  const runSome = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url), {
        resourceLimits,
        workerData: patches,
      });
      let current = -1;
      let left = mostInOneWorker;
      const takeNext = (): void => {
        const job = left-- > 0 ? jobs[next] : undefined;
        if (job) {
          current = next++;
          return worker.postMessage({ work, job }, []);
        }
        void worker.terminate();
        resolve();
      };
      worker.on('message', (result: Result) => {
        results[current] = result;
        onProgress?.(++done);
        takeNext();
      });
      worker.on('error', reject);
      takeNext();
    });
  const runAll = async (): Promise<void> => {
    while (next < jobs.length) await runSome();
  };

  await Promise.all(Array.from({ length: availableParallelism() }, runAll));
  return results;
}
