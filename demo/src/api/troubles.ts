import {
  cutBody,
  failTimes,
  type Fault,
  hang,
  networkError,
  rateLimited,
} from 'steadfetch/testing';

/** What can happen to a request: `lost` and `silent` happen to its answer, when it is done already. */
export type Mishap =
  | '404'
  | '410'
  | '429'
  | '429-date'
  | '500'
  | '503'
  | 'hang'
  | 'cut'
  | 'lost'
  | 'silent';

/** A request, as a trouble sees it. */
interface Met {
  /** How many there were since the last answer that arrived, with this one. */
  readonly nth: number;
  /** How long after the first of its run it came. */
  readonly afterMs: number;
}

/** One way for an act to go wrong: the same for both sides. */
export interface Trouble {
  /** Also its name in the URL hash. */
  readonly id: string;
  readonly label: string;
  readonly text: string;
  readonly meets: (request: Met) => Mishap | undefined;
  /** The device has no network. */
  readonly isOffline?: boolean;
  /** The server wants more of a report than its form does. */
  readonly isStrict?: boolean;
}

/** How long an outage takes: React Query's last retry is sent 8.2 s after the first request, on a slow device later. */
const outageMs = 10_000;

export const never: Trouble['meets'] = () => undefined;
export const first =
  (times: number, mishap: Mishap): Trouble['meets'] =>
  ({ nth }) =>
    nth <= times ? mishap : undefined;
export const always =
  (mishap: Mishap): Trouble['meets'] =>
  () =>
    mishap;
export const inOutage: Trouble['meets'] = ({ afterMs }) => (afterMs < outageMs ? '503' : undefined);

/** What makes each of them happen, for one side in one run. */
export function createFaults(body: string): Readonly<Record<Mishap, Fault>> {
  return {
    '404': failTimes(Infinity, 404),
    '410': failTimes(Infinity, 410),
    '429': rateLimited({ retryAfterSeconds: 5 }),
    '429-date': rateLimited({ retryAfterSeconds: 5, as: 'date' }),
    '500': failTimes(Infinity, 500),
    '503': failTimes(Infinity, 503),
    hang: hang(),
    cut: cutBody({ body }),
    lost: networkError(),
    silent: hang(),
  };
}

export const isLate = (mishap: Mishap): boolean => mishap === 'lost' || mishap === 'silent';
