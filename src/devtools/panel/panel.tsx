import {
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { duration } from '../explain.ts';
import { inspectOrigins } from '../inspect.ts';
import type { Live } from '../recording/live.ts';
import type { RecordedEvent } from '../recording/recording.ts';
import { viewAt } from '../view.ts';
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

/** The panel, in any container. */
export function Panel({
  live,
  onClose,
}: {
  readonly live: Live;
  readonly onClose?: (() => void) | undefined;
}): ReactElement {
  const { recorder, instance, faults } = live;
  const id = useId();
  const tabs = useRef<HTMLDivElement>(null);
  const [name, setName] = useState<Name>('Origins');
  const [message, setMessage] = useState('');
  const [replay, setReplay] = useState<Replay>();
  const recorded = useSyncExternalStore(recorder.subscribe, recorder.getState, recorder.getState);
  const now = useNow(instance.wall, !replay || replay.isRunning);
  useReplay(replay, setReplay, now);
  const events = replay?.events ?? recorded;
  // Events within the current second are shown at once.
  const at = replay?.at ?? Math.max(now, recorded.at(-1)?.at ?? 0);
  const view = useMemo(() => viewAt(events, at), [events, at]);
  const inspection = replay ? view.inspection : inspectOrigins(instance);
  const origins = inspection?.origins ?? [];
  const counts: Partial<Record<Name, number>> = {
    Origins: origins.filter(({ status }) => status !== 'up').length,
    Faults: useSyncExternalStore(faults.subscribe, faults.getState, faults.getState).length,
    Mutations: live.outbox()?.getState().dead ?? 0,
    Operations: view.operations.filter(({ endedAt }) => endedAt === undefined).length,
  };
  useEffect(() => {
    if (onClose) tabs.current?.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
  }, [onClose]);

  const onKeyDown = ({ key, currentTarget }: KeyboardEvent<HTMLElement>): void => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const next = names.at((names.indexOf(name) + step) % names.length) ?? name;
    setName(next);
    currentTarget.querySelector<HTMLElement>(`[data-name=${next}]`)?.focus();
  };
  return (
    <div className="panel">
      <div className="head">
        <span className="brand">
          <Mark />
          <span>Steadfetch</span>
        </span>
        <div
          className="tabs"
          role="tablist"
          aria-label="Steadfetch"
          ref={tabs}
          onKeyDown={onKeyDown}
        >
          {names.map((one) => (
            <button
              key={one}
              type="button"
              role="tab"
              id={`${id}${one}`}
              data-name={one}
              aria-selected={one === name}
              aria-controls={`${id}panel`}
              tabIndex={one === name ? 0 : -1}
              onClick={() => {
                setName(one);
                setMessage('');
              }}
            >
              {one}
              {!!counts[one] && <span className="count">{counts[one]}</span>}
            </button>
          ))}
        </div>
        {onClose && (
          <button type="button" className="close" aria-label="Close" onClick={onClose}>
            ×
          </button>
        )}
      </div>
      {replay && <ReplayBar replay={replay} onChange={setReplay} />}
      <Body
        // Each tab starts scrolled to its top.
        key={name}
        id={`${id}panel`}
        labelledBy={`${id}${name}`}
        isBare={name === 'Operations' || name === 'Log'}
      >
        {name === 'Origins' && <Origins origins={origins} view={view} />}
        {name === 'Operations' && (
          <Operations view={view} live={replay ? undefined : live} onMessage={setMessage} />
        )}
        {name === 'Mutations' && !replay && (
          <Mutations live={live} now={now} onMessage={setMessage} />
        )}
        {name === 'Tabs' && !replay && (
          <Tabs live={live} inspection={inspection ?? inspectOrigins(instance)} now={now} />
        )}
        {name === 'Faults' && !replay && <Faults live={live} view={view} onMessage={setMessage} />}
        {replay && isOfPage(name) && (
          <Empty title="Not in a recording">
            This view shows the live page: leave the replay first.
          </Empty>
        )}
        {name === 'Log' && (
          <Log
            events={view.events}
            onMessage={setMessage}
            onClear={replay ? undefined : recorder.clear}
            onImport={(given, file) => {
              setMessage(`${file}: ${given.length} events.`);
              setReplay({
                events: given,
                name: file,
                at: given.at(-1)?.at ?? 0,
                isRunning: false,
              });
            }}
          />
        )}
      </Body>
      <p className={message ? 'bar foot soft' : 'told'} role="status">
        {message}
      </p>
    </div>
  );
}

function Body({
  id,
  labelledBy,
  isBare,
  children,
}: {
  readonly id: string;
  readonly labelledBy: string;
  readonly isBare: boolean;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <div
      className={isBare ? 'body bare' : 'body'}
      role="tabpanel"
      id={id}
      aria-labelledby={labelledBy}
      // It scrolls, and may contain nothing focusable.
      tabIndex={0}
    >
      {children}
    </div>
  );
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
    const endsAt = replay.events.at(-1)?.at ?? 0;
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
  const to = events.at(-1)?.at ?? 0;
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

/** Waves that calm down. */
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
