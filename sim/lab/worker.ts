import type { LabReply, LabRequest } from './protocol.ts';
import { runLabStorm } from './lab-storm.ts';
import { runLabUser } from './lab-user.ts';

// A worker of a browser. It runs one thing at a time: while a page asks for one, time is virtual.
const reply = (message: LabReply): void => globalThis.postMessage(message, { transfer: [] });

// Stack traces are what errors cost most, and nobody reads them here.
Error.stackTraceLimit = 0;

async function work(request: LabRequest): Promise<void> {
  if (request.work === 'user') {
    reply({ kind: 'user', record: await runLabUser(request.policy, request.scenario) });
    return;
  }
  const { policy, scenario } = request;
  const { figures } = await runLabStorm(policy, scenario, (second) =>
    reply({ kind: 'second', second }),
  );
  reply({ kind: 'storm', figures });
}

// A rejection is an error of the worker, which the page is told of.
globalThis.addEventListener('message', ({ data }: MessageEvent<LabRequest>) => void work(data));
