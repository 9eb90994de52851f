import type { Random } from '../../src/index.ts';
import type { Fields } from './answer.ts';
import { isBroken } from './endpoints.ts';
import { milestones, type Scenario } from './scenario.ts';

/** What becomes of a request: an answer (status 0: the connection breaks), or nothing at all. */
export interface Reply {
  readonly atMs: number;
  readonly status: number;
  readonly retryAfter?: string | undefined;
  /** Other header fields. */
  readonly fields?: Fields;
}

/**
 * One server that works first come, first served. It cannot tell that a client has given up: what
 * it has accepted, it does.
 */
export interface Server {
  /** Requests must come in the order of time. */
  readonly receive: (arrivalMs: number, url: string) => Reply | undefined;
}

/** How late everything is answered in a `slow` outage. */
const slowMs = 3000;

export function createServer(scenario: Scenario, random: Random): Server {
  const { kind, tabs, rate, load, errors, endpoints, brokenEndpoints } = scenario;
  const { outageMs, recoveryMs } = milestones(scenario);
  const serviceMs = (1000 * load) / (tabs * rate);
  const queueMs = scenario.queueS * 1000;
  const waitMs = scenario.waitS * 1000;
  const isOut = (atMs: number): boolean => kind !== 'none' && atMs >= outageMs && atMs < recoveryMs;
  let busyUntilMs = 0;

  return {
    receive(arrivalMs, url) {
      const outage = isOut(arrivalMs) ? kind : undefined;
      const refusal = { atMs: arrivalMs, status: 503 };
      if (isBroken(url, brokenEndpoints)) return refusal;
      if (errors > 0 && random() < errors) return refusal;
      if (outage === '503') return refusal;
      if (outage === 'half-errors' && random() < 0.5) return refusal;
      if (outage === 'half-endpoints' && isBroken(url, endpoints / 2)) return refusal;
      if (outage === 'drop') return { atMs: arrivalMs, status: 0 };
      if (outage === 'hang') return undefined;
      if (outage === 'slow') return { atMs: arrivalMs + slowMs, status: 204 };
      if (outage === 'retry-after') {
        return { ...refusal, retryAfter: `${Math.ceil((recoveryMs - arrivalMs) / 1000)}` };
      }
      const startMs = Math.max(arrivalMs, busyUntilMs);
      if (startMs - arrivalMs > queueMs) return refusal;
      busyUntilMs = startMs + serviceMs * (outage === 'half-capacity' ? 2 : 1);
      // A server that hangs takes with it what it was working on.
      if (kind === 'hang' && isOut(busyUntilMs)) return undefined;
      return { atMs: busyUntilMs + waitMs, status: 204 };
    },
  };
}
