import { always, first, never, type Trouble } from '../api/troubles.ts';

/** The ways in which a note goes astray: the first three are in front. */
export const troubles: readonly [Trouble, ...Trouble[]] = [
  {
    id: 'offline',
    label: 'Offline',
    text: 'The device has no network. Send a note, reload the page, and go online.',
    meets: never,
    isOffline: true,
  },
  {
    id: 'lost',
    label: 'Answer lost',
    text: 'The shop takes the note. Then the connection breaks, and its answer is lost.',
    meets: first(1, 'lost'),
  },
  {
    id: 'down',
    label: 'Shop down',
    text: 'The shop answers 503 until you choose another trouble. React Query retries three times; Steadfetch keeps the note.',
    meets: always('503'),
  },
  {
    id: 'refused',
    label: 'Refused',
    text: 'The shop takes only notes with a number in them, and refuses the others (422).',
    meets: never,
    isStrict: true,
  },
  { id: 'fine', label: 'Healthy', text: 'Nothing goes wrong.', meets: never },
];
