import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Patch } from './patches.ts';
import type { Works } from './works.ts';

/** Enough for any run; without a limit, a worker would rather grow than collect its garbage. */
const resourceLimits = { maxOldGenerationSizeMb: 1024 };

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

  const runSome = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./worker.ts', import.meta.url), {
        resourceLimits,
        workerData: patches,
      });
      let current = -1;
      const takeNext = (): void => {
        current = next++;
        const job = jobs[current];
        if (job) return worker.postMessage({ work, job }, []);
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

  await Promise.all(Array.from({ length: availableParallelism() }, runSome));
  return results;
}
