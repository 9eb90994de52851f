import { onlineManager } from '@tanstack/react-query';
import { http, HttpResponse } from 'msw';
import { setupWorker } from 'msw/browser';
import {
  compose,
  cutBody,
  failTimes,
  type Fault,
  hang,
  networkError,
  rateLimited,
  slow,
} from 'steadfetch/testing';
import { type Checkout, createCheckout } from '../orders/checkout.ts';
import { createReportDesk, type ReportDesk } from '../reports/report-desk.ts';
import type { ScenarioId } from '../scenarios/scenarios.ts';
import { kites } from './kites.ts';

/** The shop's API, which fails as a scenario wants it. */
export interface MockApi {
  /** Begins a scenario, or begins it once more. */
  readonly play: (scenario: ScenarioId) => void;
  /** How many requests have come in since then: the other side of what the flight recorder draws. */
  readonly getRequestCount: () => number;
  readonly subscribe: (listener: () => void) => () => void;
  /** Where orders are taken. */
  readonly checkout: Checkout;
  /** Where flight reports are taken. */
  readonly reports: ReportDesk;
}

/** Long enough that a request can be seen on its way. */
const latency = slow({ delayMs: 400 });

const whileOffline = networkError();

const faults: Readonly<Record<ScenarioId, Fault | undefined>> = {
  healthy: undefined,
  '503-twice': failTimes(2, 503),
  '429-seconds': rateLimited({ retryAfterSeconds: 5 }),
  '429-date': rateLimited({ retryAfterSeconds: 5, as: 'date' }),
  outage: failTimes(5, 503),
  timeout: hang({ times: 1 }),
  'cut-body': cutBody({ body: JSON.stringify(kites), times: 1 }),
  offline: undefined,
  '404': failTimes(Infinity, 404),
  '500': failTimes(Infinity, 500),
};

/** Starts the service worker that answers in the place of a server. */
export async function startMockApi(): Promise<MockApi> {
  const checkout = createCheckout();
  const { naive, steadfetch } = checkout.desks;
  const reports = createReportDesk();
  const worker = setupWorker(naive.handler, steadfetch.handler, ...reports.handlers);
  await worker.start({
    quiet: true,
    onUnhandledFrame: 'bypass',
    serviceWorker: { url: `${import.meta.env.BASE_URL}mockServiceWorker.js` },
  });
  const listeners = new Set<() => void>();
  let playing: Fault = latency;
  let requestCount = 0;
  const count = (requests: number): void => {
    requestCount = requests;
    for (const listener of listeners) listener();
  };

  worker.use(
    http.get('*/api/catalogue', async (info) => {
      const failing = onlineManager.isOnline() ? playing(info) : whileOffline(info);
      count(requestCount + 1);
      return (await failing) ?? HttpResponse.json(kites);
    }),
  );

  return {
    play(scenario) {
      playing.reset();
      const fault = faults[scenario];
      playing = fault ? compose(latency, fault) : latency;
      count(0);
    },
    getRequestCount: () => requestCount,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    checkout,
    reports,
  };
}
