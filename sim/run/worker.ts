import { parentPort } from 'node:worker_threads';
import { runAsProduction } from '../engine/production.ts';
import { type Works, works } from './works.ts';

runAsProduction();

interface Message {
  readonly work: keyof Works;
  readonly job: never;
}

parentPort?.on('message', ({ work, job }: Message) => {
  // A rejection ends the worker, and so the whole: a run that fails is a mistake of ours.
  void works[work](job).then((result) => parentPort?.postMessage(result, []));
});
