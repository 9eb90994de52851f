import type { Transport } from '../../src/index.ts';
import type { Simulation } from '../engine/simulation.ts';
import { answer } from './answer.ts';
import type { Server } from './server.ts';

/** From a tab to the server, and back, as a rule: 25 ms each. */
const usualWayMs = 25;

/**
 * The fetch that every policy sends its requests with. Each way takes the same time, so that
 * requests arrive in the order in which they were sent. Where there is no network at the time
 * (`wayAt` says undefined), it fails at once.
 */
export function createNetwork(
  simulation: Simulation,
  server: Server,
  onArrival: (arrivalMs: number, url: string) => void,
  wayAt: (atMs: number) => number | undefined = () => usualWayMs,
): Transport {
  return (input, init) =>
    new Promise((resolve, reject) => {
      const signal =
        init?.signal ?? (typeof input === 'object' && 'signal' in input ? input.signal : null);
      if (signal?.aborted) return reject(signal.reason);
      const wayMs = wayAt(simulation.nowMs());
      if (wayMs === undefined) {
        simulation.at(simulation.nowMs() + 1, () => reject(new TypeError('Failed to fetch')));
        return;
      }
      const url = `${input instanceof Object && 'url' in input ? input.url : input}`;
      const arrivalMs = simulation.nowMs() + wayMs;
      onArrival(arrivalMs, url);
      const reply = server.receive(arrivalMs, url);
      const arrival =
        reply &&
        simulation.at(reply.atMs + wayMs, () => {
          const { status, retryAfter, fields } = reply;
          if (status === 0) reject(new TypeError('Failed to fetch'));
          else resolve(answer(status, retryAfter ? { 'retry-after': retryAfter } : fields));
        });
      signal?.addEventListener('abort', () => {
        if (arrival) arrival.run = undefined;
        reject(signal.reason);
      });
    });
}
