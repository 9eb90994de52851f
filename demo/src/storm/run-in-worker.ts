import type { LabReply, LabRequest } from '../../../sim/lab/protocol.ts';

/** Runs something in a worker of its own, until it is done or no longer wanted. */
export function runInWorker(
  request: LabRequest,
  onReply: (reply: LabReply) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('../../../sim/lab/worker.ts', import.meta.url), {
      type: 'module',
    });
    const end = (): void => {
      worker.terminate();
      signal.removeEventListener('abort', end);
      resolve();
    };
    if (signal.aborted) return end();
    signal.addEventListener('abort', end);
    worker.addEventListener('message', ({ data }: MessageEvent<LabReply>) => {
      onReply(data);
      if (data.kind !== 'second') end();
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      reject(new Error(event.message || 'The simulation did not start.'));
      end();
    });
    worker.postMessage(request, []);
  });
}
