import { always, first, inOutage, never, type Trouble } from '../api/troubles.ts';

/** The ways in which an order goes wrong: the first three are in front. */
export const troubles: readonly [Trouble, ...Trouble[]] = [
  {
    id: 'lost',
    label: 'Answer lost',
    text: 'The shop books the order. Then the connection breaks, and its answer is lost.',
    meets: first(1, 'lost'),
  },
  {
    id: '503',
    label: '503 twice',
    text: 'The shop is overloaded twice. Nothing is booked until it answers.',
    meets: first(2, '503'),
  },
  {
    id: 'down',
    label: 'Down for 10 s',
    text: 'The shop answers 503 for ten seconds. React Query retries three times; Steadfetch asks until it is back.',
    meets: inOutage,
  },
  {
    id: 'silent',
    label: 'No answer',
    text: 'The shop books the order, and no answer ever comes. Reload, and order again.',
    meets: first(1, 'silent'),
  },
  {
    id: 'sold-out',
    label: 'Sold out',
    text: 'The shop refuses the order for good (410).',
    meets: always('410'),
  },
  { id: 'fine', label: 'Healthy', text: 'Nothing goes wrong.', meets: never },
];
