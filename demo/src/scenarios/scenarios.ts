import type { PolicyOptions } from 'steadfetch';

export type ScenarioId =
  | 'healthy'
  | '503-twice'
  | 'outage'
  | '429-seconds'
  | '429-date'
  | 'timeout'
  | 'cut-body'
  | 'offline'
  | '404'
  | '500';

/** One way for the API to behave, and what Steadfetch does about it. */
export interface Scenario {
  /** Also its name in the URL hash. */
  readonly id: ScenarioId;
  readonly label: string;
  readonly explanation: string;
  /** Laid over the policy of the app, for the catalogue's query only. */
  readonly policy: PolicyOptions;
}

export const scenarios: readonly [Scenario, ...Scenario[]] = [
  {
    id: 'healthy',
    label: 'Healthy',
    explanation: 'The API answers. One request is sent, and there is nothing more to do.',
    policy: {},
  },
  {
    id: '503-twice',
    label: '503 twice',
    explanation:
      'The server is overloaded twice, then answers. Steadfetch tries again by itself. Each wait is longer, and random, so that not all clients come back at once.',
    policy: {},
  },
  {
    id: 'outage',
    label: 'Outage',
    explanation:
      'After three failures in a row the server counts as down. Now Steadfetch sends only one request at a time, the probe: about one per second at first, and then fewer. When a probe is answered, everything resumes. Failed probes use up no retries.',
    policy: { baseMs: 500 },
  },
  {
    id: 'offline',
    label: 'Offline',
    explanation:
      'The device is offline. The request is paused before it is sent: no spinner, and no retry is used up. It is sent as soon as you are back online.',
    policy: {},
  },
  {
    id: '429-seconds',
    label: '429 seconds',
    explanation:
      'The server asks for a pause of 5 seconds (Retry-After: 5). Steadfetch respects it: the retry is never earlier, and at most a tenth later.',
    policy: {},
  },
  {
    id: '429-date',
    label: '429 date',
    explanation:
      'The pause is given as a date. Steadfetch compares it with the server’s own clock, so the wait is right even if the clock of the device is wrong.',
    policy: {},
  },
  {
    id: 'timeout',
    label: 'Time-out',
    explanation:
      'A request hangs. Steadfetch aborts it after 1.5 seconds and tries again, because reading twice does no harm.',
    policy: { timeout: 1500 },
  },
  {
    id: 'cut-body',
    label: 'Cut body',
    explanation:
      'The status is 200, but the body breaks off half-way. Steadfetch counts that as a failure, so the page never shows half a catalogue.',
    policy: {},
  },
  {
    id: '404',
    label: '404',
    explanation:
      'There is nothing at this address. Another request would not change that, so Steadfetch stops at once: one request, no wait.',
    policy: {},
  },
  {
    id: '500',
    label: '500 for ever',
    explanation:
      'The server is broken for good. Steadfetch tries once more and then stops, to spare a server in trouble.',
    policy: {},
  },
];
