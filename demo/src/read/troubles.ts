import { always, first, inOutage, never, type Trouble } from '../api/troubles.ts';

/** The ways in which reading goes wrong: the first three are in front. */
export const troubles: readonly [Trouble, ...Trouble[]] = [
  {
    id: 'outage',
    label: 'Down for 10 s',
    text: 'The server answers 503 for ten seconds. React Query retries three times; Steadfetch asks until it is back.',
    meets: inOutage,
  },
  {
    id: '503-twice',
    label: '503 twice',
    text: 'The server is overloaded twice, then answers.',
    meets: first(2, '503'),
  },
  {
    id: 'hang',
    label: 'No answer',
    text: 'The first request hangs: no answer comes, and no error.',
    meets: first(1, 'hang'),
  },
  {
    id: '429',
    label: '429, wait 5 s',
    text: 'The server asks for a pause of five seconds (Retry-After: 5).',
    meets: always('429'),
  },
  {
    id: '429-date',
    label: '429, by date',
    text: 'The server says by a date when to come back.',
    meets: always('429-date'),
  },
  {
    id: 'cut-body',
    label: 'Cut off',
    text: 'The answer breaks off in the middle of its body.',
    meets: first(1, 'cut'),
  },
  {
    id: 'offline',
    label: 'Offline',
    text: 'The device has no network.',
    meets: never,
    isOffline: true,
  },
  {
    id: '404',
    label: '404',
    text: 'There is nothing at this address, and asking again does not change that.',
    meets: always('404'),
  },
  {
    id: '500',
    label: '500, always',
    text: 'The server has a bug: every request fails.',
    meets: always('500'),
  },
  { id: 'healthy', label: 'Healthy', text: 'Nothing goes wrong.', meets: never },
];
