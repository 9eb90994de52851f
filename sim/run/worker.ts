import { parentPort, workerData } from 'node:worker_threads';
import { runAsProduction } from '../engine/production.ts';
import { applyPatches, type Patch } from './patches.ts';
import type { Works } from './works.ts';

interface Message {
  readonly work: keyof Works;
  readonly job: never;
}

runAsProduction();
applyPatches(workerData as readonly Patch[]);
// Only now: what has been imported can be patched no more.
const { works } = await import('./works.ts');

parentPort?.on('message', ({ work, job }: Message) => {
  // A rejection ends the worker, and so the whole: a run that fails is a mistake of ours.
  void works[work](job).then((result) => parentPort?.postMessage(result, []));
});
