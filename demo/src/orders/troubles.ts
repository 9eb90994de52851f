import { failTimes, type Fault, hang, networkError } from 'steadfetch/testing';

export type TroubleId = 'lost' | 'silent' | '503' | 'down' | 'sold-out' | 'fine';

/** One way for an order, or whatever else is sent, to go wrong. */
export interface Trouble<Id extends string = TroubleId> {
  /** Also its name in the URL hash. */
  readonly id: Id;
  readonly label: string;
  readonly explanation: string;
  /** Whether it strikes before anything is booked, or after, on the answer's way back. */
  readonly strikes: 'before' | 'after';
  /** How many requests fail before one goes through; then it begins anew. */
  readonly times: number;
  readonly fault: Fault;
}

export const troubles: readonly [Trouble, ...Trouble[]] = [
  {
    id: 'lost',
    label: 'Answer lost',
    explanation:
      'The order is booked, then the connection breaks. Fill in both forms and press Order; reload the page in between, and press again.',
    strikes: 'after',
    times: 1,
    fault: networkError(),
  },
  {
    id: 'silent',
    label: 'No answer',
    explanation:
      'The order is booked, and then nothing. Steadfetch aborts the request after 4 seconds; the naive form waits for ever. Reload, and press again.',
    strikes: 'after',
    times: 1,
    fault: hang(),
  },
  {
    id: '503',
    label: '503 twice',
    explanation:
      'The shop is overloaded and refuses twice, before anything is booked. Here a plain retry is enough: both forms book one order.',
    strikes: 'before',
    times: 2,
    fault: failTimes(Infinity, 503),
  },
  {
    id: 'down',
    label: 'Shop down',
    explanation:
      'Every request is refused. The naive form gives up after 7 seconds, Steadfetch after two minutes. Choose “All is well” before that, and watch your order arrive.',
    strikes: 'before',
    times: Infinity,
    fault: failTimes(Infinity, 503),
  },
  {
    id: 'sold-out',
    label: 'Sold out',
    explanation:
      'The shop refuses for good (410). The naive form sends it four times. Steadfetch sends it once, and says that nothing was ordered.',
    strikes: 'before',
    times: Infinity,
    fault: failTimes(Infinity, 410),
  },
  {
    id: 'fine',
    label: 'All is well',
    explanation: 'The shop books the order and says so. One request, one order, in both forms.',
    strikes: 'before',
    times: 0,
    fault: networkError(),
  },
];
