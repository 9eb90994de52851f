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
    explanation: 'The API answers. One request goes out, and there is nothing more to do.',
    policy: {},
  },
  {
    id: '503-twice',
    label: '503 twice',
    explanation:
      'The server is overloaded twice, then answers. Steadfetch asks again by itself, waiting longer each time, and never exactly as long as everybody else.',
    policy: {},
  },
  {
    id: 'outage',
    label: 'Outage',
    explanation:
      'After three failures in a row Steadfetch takes the server for down. Now nothing is sent but one request at a time, the probe, about every second at first and then ever more rarely. The one that is answered lets all go on, and those that fail use up no retry.',
    policy: { baseMs: 500 },
  },
  {
    id: 'offline',
    label: 'Offline',
    explanation:
      'The device is offline. The request is paused before it is sent: no spinner, no retry spent. It goes out as soon as you are back.',
    policy: {},
  },
  {
    id: '429-seconds',
    label: '429 seconds',
    explanation:
      'The server asks for a pause of 5 seconds (Retry-After: 5). Steadfetch keeps to it: never earlier, and a tenth of it later at the most.',
    policy: {},
  },
  {
    id: '429-date',
    label: '429 date',
    explanation:
      'The pause is given as a date. Steadfetch reads it against the server’s own clock, so a device with the wrong time still waits the right time.',
    policy: {},
  },
  {
    id: 'timeout',
    label: 'Time-out',
    explanation:
      'A request hangs. Steadfetch gives it up after 1.5 seconds and asks again, because reading twice does no harm.',
    policy: { timeout: 1500 },
  },
  {
    id: 'cut-body',
    label: 'Cut body',
    explanation:
      'The status says 200, but the body breaks off half-way. Steadfetch counts that as a failure, so the page never shows half a catalogue.',
    policy: {},
  },
  {
    id: '404',
    label: '404',
    explanation:
      'There is nothing at this address. Asking again would not change that, so Steadfetch stops at once: one request, no wait.',
    policy: {},
  },
  {
    id: '500',
    label: '500 for ever',
    explanation:
      'The server is broken for good. Steadfetch asks once more and then stops, so as not to press a server that is already down.',
    policy: {},
  },
];
