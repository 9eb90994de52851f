import { type ReactElement, useState, useSyncExternalStore } from 'react';
import type { FaultKind, FaultWish } from '../faults.ts';
import type { Live } from '../recording/live.ts';
import type { View } from '../view.ts';
import { Action, Chip, Empty } from './parts.tsx';

const kinds: readonly (readonly [FaultKind, string])[] = [
  ['fail', 'Fail the next requests'],
  ['rate-limit', 'Answer 429 with Retry-After'],
  ['hang', 'Never answer'],
  ['cut', 'Cut the body'],
  ['lose', 'Process it, and lose the answer'],
  ['slow', 'Delay the answers'],
  ['offline', 'Take the page offline'],
];
const statuses = [503, 500, 502, 504, 429, 404, 422];

const hasTimes = (kind: FaultKind): boolean => ['fail', 'hang', 'cut', 'lose'].includes(kind);

/** An empty field is NaN. */
const shown = (value: number): number | '' => (Number.isNaN(value) ? '' : value);

/** The form for faults, and the faults in force. */
export function Faults({
  live: { faults },
  view,
  onMessage,
}: {
  readonly live: Live;
  readonly view: View;
  readonly onMessage: (text: string) => void;
}): ReactElement {
  return (
    <>
      <FaultForm faults={faults} view={view} onMessage={onMessage} />
      <ActiveFaults faults={faults} />
    </>
  );
}

function FaultForm({
  faults,
  view,
  onMessage,
}: Pick<Live, 'faults'> & {
  readonly view: View;
  readonly onMessage: (text: string) => void;
}): ReactElement {
  const [wish, setWish] = useState<FaultWish>({
    kind: 'fail',
    endpoint: '',
    times: 2,
    status: 503,
    seconds: 5,
  });
  const { kind, endpoint, times, status, seconds } = wish;
  const set = (part: Partial<FaultWish>): void => setWish({ ...wish, ...part });
  const endpoints = new Set(
    view.events.flatMap((event) =>
      event.type === 'request:start' && event.place ? [event.place.endpoint] : [],
    ),
  );
  const add = (): void => {
    try {
      faults.add(wish);
      onMessage('The fault is active.');
    } catch (error) {
      onMessage((error as Error).message);
    }
  };
  return (
    <section className="card" aria-label="A new fault">
      <form
        className="in form"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <label>
          What goes wrong
          <select value={kind} onChange={({ target }) => set({ kind: target.value as FaultKind })}>
            {kinds.map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        </label>
        {kind !== 'offline' && (
          <label>
            For
            <select value={endpoint} onChange={({ target }) => set({ endpoint: target.value })}>
              <option value="">every request</option>
              {[...endpoints].map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
        {kind === 'fail' && (
          <label>
            With the status
            <select value={status} onChange={({ target }) => set({ status: Number(target.value) })}>
              {statuses.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
        {hasTimes(kind) && (
          <label>
            How many requests
            <input
              type="number"
              min={1}
              value={shown(times)}
              onChange={({ target }) => set({ times: target.valueAsNumber })}
            />
          </label>
        )}
        {(kind === 'rate-limit' || kind === 'slow') && (
          <label>
            Seconds
            <input
              type="number"
              min={1}
              value={shown(seconds)}
              onChange={({ target }) => set({ seconds: target.valueAsNumber })}
            />
          </label>
        )}
        <button type="submit" data-primary>
          Add the fault
        </button>
      </form>
    </section>
  );
}

/** The faults in force. */
function ActiveFaults({ faults }: Pick<Live, 'faults'>): ReactElement {
  const active = useSyncExternalStore(faults.subscribe, faults.getState, faults.getState);
  if (active.length === 0)
    return (
      <Empty title="No fault is active">
        A fault applies to the requests of Steadfetch in this tab, until it is removed or the page
        is reloaded.
      </Empty>
    );
  return (
    <ul className="card list" aria-label="Active faults">
      {active.map((one) => (
        <li key={one.id} className="in row">
          <Chip tone="warn">{one.endpoint || 'every request'}</Chip>
          <span className="grow">{one.description}</span>
          <span className="soft">
            {one.met} {one.met === 1 ? 'request' : 'requests'} met
          </span>
          <Action label="Remove" onPress={() => faults.remove(one.id)} />
        </li>
      ))}
    </ul>
  );
}
