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

interface FaultsProps {
  readonly live: Pick<Live, 'faults'>;
  readonly view: View;
  readonly onMessage: (text: string) => void;
}

/** The form for faults, and the faults in force. */
export const Faults = (props: FaultsProps): ReactElement => (
  <>
    <FaultForm {...props} />
    <ActiveFaults {...props.live} />
  </>
);

const firstWish: FaultWish = { kind: 'fail', endpoint: '', times: 2, status: 503, seconds: 5 };

function FaultForm({ live: { faults }, view, onMessage }: FaultsProps): ReactElement {
  const [wish, setWish] = useState(firstWish);
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
        <FaultFields wish={wish} view={view} onChange={setWish} />
        <button type="submit" data-primary>
          Add the fault
        </button>
      </form>
    </section>
  );
}

interface FaultFieldsProps {
  readonly wish: FaultWish;
  readonly view: View;
  readonly onChange: (wish: FaultWish) => void;
}

function FaultFields({ wish, view, onChange }: FaultFieldsProps): ReactElement {
  const { kind, endpoint, times, status, seconds } = wish;
  const set = (part: Partial<FaultWish>): void => onChange({ ...wish, ...part });
  const endpoints = new Set(
    view.events.flatMap((event) =>
      event.type === 'request:start' && event.place ? [event.place.endpoint] : [],
    ),
  );
  return (
    <>
      <Choice
        label="What goes wrong"
        value={kind}
        options={kinds}
        onChange={(next) => set({ kind: next as FaultKind })}
      />
      {kind !== 'offline' && (
        <Choice
          label="For"
          value={endpoint}
          options={[['', 'every request'], ...[...endpoints].map((one) => [one, one] as const)]}
          onChange={(next) => set({ endpoint: next })}
        />
      )}
      {kind === 'fail' && (
        <Choice
          label="With the status"
          value={`${status}`}
          options={statuses.map((one) => [`${one}`, `${one}`])}
          onChange={(next) => set({ status: Number(next) })}
        />
      )}
      {['fail', 'hang', 'cut', 'lose'].includes(kind) && (
        <Amount label="How many requests" value={times} onChange={(next) => set({ times: next })} />
      )}
      {['rate-limit', 'slow'].includes(kind) && (
        <Amount label="Seconds" value={seconds} onChange={(next) => set({ seconds: next })} />
      )}
    </>
  );
}

interface FieldProps<Value> {
  readonly label: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

interface ChoiceProps extends FieldProps<string> {
  /** Each value with its words. */
  readonly options: readonly (readonly [value: string, words: string])[];
}

const Choice = ({ label, value, options, onChange }: ChoiceProps): ReactElement => (
  <label>
    {label}
    <select value={value} onChange={({ target }) => onChange(target.value)}>
      {options.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  </label>
);

const Amount = ({ label, value, onChange }: FieldProps<number>): ReactElement => (
  <label>
    {label}
    <input
      type="number"
      min={1}
      // An empty field is NaN.
      value={Number.isNaN(value) ? '' : value}
      onChange={({ target }) => onChange(target.valueAsNumber)}
    />
  </label>
);

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
