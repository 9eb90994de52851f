import {
  type KeyboardEvent,
  type ReactElement,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { duration } from '../explain.ts';
import { inspectOrigins, type OriginInspection } from '../inspect.ts';
import type { Live } from '../recording/live.ts';
import type { RecordedEvent } from '../recording/recording.ts';
import { type View, viewAt } from '../view.ts';
import { Faults } from './faults.tsx';
import { Log } from './log.tsx';
import { Mutations } from './mutations.tsx';
import { Operations } from './operations.tsx';
import { Origins } from './origins.tsx';
import { Tabs } from './tabs.tsx';
import { Action, Empty, timeOf, useNow } from './parts.tsx';

const names = ['Origins', 'Operations', 'Mutations', 'Tabs', 'Faults', 'Log'] as const;
type Name = (typeof names)[number];
const isOfPage = (name: Name): boolean => ['Mutations', 'Tabs', 'Faults'].includes(name);

/** An imported recording, and the moment that is shown. */
interface Replay {
  readonly events: readonly RecordedEvent[];
  readonly name: string;
  readonly at: number;
  readonly isRunning: boolean;
}

interface PanelProps {
  readonly live: Live;
  readonly onClose?: (() => void) | undefined;
}

/** The panel, in any container. */
export function Panel({ live, onClose }: PanelProps): ReactElement {
  const id = useId();
  const [name, setName] = useState<Name>('Origins');
  const [message, setMessage] = useState('');
  const [replay, setReplay] = useState<Replay>();
  const shown = useShown(live, replay, setReplay);
  const counts = useCounts(live, shown);
  return (
    <div className="panel">
      <div className="head">
        <span className="brand">
          <Mark />
          <span>Steadfetch</span>
        </span>
        <TabList
          id={id}
          selected={name}
          counts={counts}
          takesFocus={!!onClose}
          onSelect={(next) => {
            setName(next);
            setMessage('');
          }}
        />
        {onClose && (
          <button type="button" className="close" aria-label="Close" onClick={onClose}>
            ×
          </button>
        )}
      </div>
      {replay && <ReplayBar replay={replay} onChange={setReplay} />}
      <div
        // Each tab starts scrolled to its top.
        key={name}
        className={name === 'Operations' || name === 'Log' ? 'body bare' : 'body'}
        role="tabpanel"
        id={`${id}panel`}
        aria-labelledby={`${id}${name}`}
        // It scrolls, and may contain nothing focusable.
        tabIndex={0}
      >
        <Content
          {...shown}
          name={name}
          live={live}
          isReplay={!!replay}
          onMessage={setMessage}
          onImport={(next) => {
            setMessage(`${next.name}: ${next.events.length} events.`);
            setReplay(next);
          }}
        />
      </div>
      <p className={message ? 'bar foot soft' : 'told'} role="status">
        {message}
      </p>
    </div>
  );
}

/** The moment that is shown. */
interface Shown {
  readonly now: number;
  readonly view: View;
  readonly inspection: OriginInspection | undefined;
}

/** The present, or a moment of a recording. */
function useShown(
  { recorder, instance }: Live,
  replay: Replay | undefined,
  setReplay: (next: Replay) => void,
): Shown {
  const recorded = useSyncExternalStore(recorder.subscribe, recorder.getState, recorder.getState);
  const now = useNow(instance.wall, !replay || replay.isRunning);
  useReplay(replay, setReplay, now);
  const events = replay?.events ?? recorded;
  // Events within the current second are shown at once.
  const at = replay?.at ?? Math.max(now, recorded[recorded.length - 1]?.at ?? 0);
  const view = useMemo(() => viewAt(events, at), [events, at]);
  return { now, view, inspection: replay ? view.inspection : inspectOrigins(instance) };
}

type Counts = Partial<Record<Name, number>>;

/** The numbers beside the names of the tabs. */
function useCounts({ faults, outbox }: Live, { view, inspection }: Shown): Counts {
  return {
    Origins: inspection?.origins.filter(({ status }) => status !== 'up').length ?? 0,
    Faults: useSyncExternalStore(faults.subscribe, faults.getState, faults.getState).length,
    Mutations: outbox()?.getState().dead ?? 0,
    Operations: view.operations.filter(({ endedAt }) => endedAt === undefined).length,
  };
}

/** The tabs of the panel. The arrow keys select, too. */
function TabList({
  id,
  selected,
  counts,
  takesFocus,
  onSelect,
}: {
  readonly id: string;
  readonly selected: Name;
  readonly counts: Counts;
  readonly takesFocus: boolean;
  readonly onSelect: (name: Name) => void;
}): ReactElement {
  const tabs = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus) tabs.current?.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
  }, [takesFocus]);

  const onKeyDown = ({ key, currentTarget }: KeyboardEvent<HTMLElement>): void => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = names[(names.indexOf(selected) + step + names.length) % names.length] ?? selected;
    onSelect(next);
    currentTarget.querySelector<HTMLElement>(`[data-name=${next}]`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label="Steadfetch" ref={tabs} onKeyDown={onKeyDown}>
      {names.map((one) => (
        <button
          key={one}
          type="button"
          role="tab"
          id={`${id}${one}`}
          data-name={one}
          aria-selected={one === selected}
          aria-controls={`${id}panel`}
          tabIndex={one === selected ? 0 : -1}
          onClick={() => onSelect(one)}
        >
          {one}
          {!!counts[one] && <span className="count">{counts[one]}</span>}
        </button>
      ))}
    </div>
  );
}

/** The content of the selected tab. */
function Content({
  name,
  live,
  isReplay,
  view,
  inspection,
  now,
  onMessage,
  onImport,
}: Shown & {
  readonly name: Name;
  readonly live: Live;
  readonly isReplay: boolean;
  readonly onMessage: (text: string) => void;
  readonly onImport: (replay: Replay) => void;
}): ReactElement {
  if (isReplay && isOfPage(name))
    return (
      <Empty title="Not in a recording">
        This view shows the live page: leave the replay first.
      </Empty>
    );
  switch (name) {
    case 'Origins':
      return <Origins origins={inspection?.origins ?? []} view={view} />;
    case 'Operations':
      return <Operations view={view} live={isReplay ? undefined : live} onMessage={onMessage} />;
    case 'Mutations':
      return <Mutations live={live} now={now} onMessage={onMessage} />;
    case 'Tabs':
      return (
        <Tabs live={live} inspection={inspection ?? inspectOrigins(live.instance)} now={now} />
      );
    case 'Faults':
      return <Faults live={live} view={view} onMessage={onMessage} />;
    default:
      return (
        <Log
          events={view.events}
          onMessage={onMessage}
          onClear={isReplay ? undefined : live.recorder.clear}
          onImport={(events, file) =>
            onImport({
              events,
              name: file,
              at: events[events.length - 1]?.at ?? 0,
              isRunning: false,
            })
          }
        />
      );
  }
}

/** Plays a recording in real time. */
function useReplay(
  replay: Replay | undefined,
  setReplay: (next: Replay) => void,
  now: number,
): void {
  const last = useRef(now);
  useEffect(() => {
    const passedMs = now - last.current;
    last.current = now;
    if (!replay?.isRunning || passedMs <= 0 || passedMs > 5000) return;
    const endsAt = replay.events[replay.events.length - 1]?.at ?? 0;
    const at = Math.min(endsAt, replay.at + passedMs);
    setReplay({ ...replay, at, isRunning: at < endsAt });
    // Runs when the time changes, and for no other reason.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [now]);
}

function ReplayBar({
  replay,
  onChange,
}: {
  readonly replay: Replay;
  readonly onChange: (next: Replay | undefined) => void;
}): ReactElement {
  const { events, name, at, isRunning } = replay;
  const from = events[0]?.at ?? 0;
  const to = events[events.length - 1]?.at ?? 0;
  return (
    <div className="bar replay">
      <b>Replay of {name}</b>
      <button
        type="button"
        onClick={() => onChange({ ...replay, at: at >= to ? from : at, isRunning: !isRunning })}
      >
        {isRunning ? 'Stop' : 'Play'}
      </button>
      <input
        type="range"
        className="grow"
        aria-label="Moment of the recording"
        aria-valuetext={timeOf(at)}
        min={from}
        max={to}
        value={at}
        onChange={({ target }) =>
          onChange({ ...replay, at: Number(target.value), isRunning: false })
        }
      />
      <span className="mono">
        {timeOf(at)} <span className="soft">of {duration(to - from)}</span>
      </span>
      <Action label="Back to this page" onPress={() => onChange(undefined)} />
    </div>
  );
}

/** The logo. */
export const Mark = (): ReactElement => (
  <svg width="18" height="18" viewBox="0 0 18 18" fill="none" aria-hidden>
    <path
      d="M1 9h2l2-6 3 12 3-9 1.5 3H17"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
);
