import { type ReactElement, useRef, useState } from 'react';
import { lineOf } from '../explain.ts';
import { readRecording, type RecordedEvent, writeRecording } from '../recording/recording.ts';
import { Action, Empty, timeOf } from './parts.tsx';

const mostShown = 300;

interface ImportProps {
  readonly onImport: (events: readonly RecordedEvent[], name: string) => void;
  readonly onMessage: (text: string) => void;
}

/** All events: filter, export and import them. */
export function Log({
  events,
  onClear,
  onImport,
  onMessage,
}: ImportProps & {
  readonly events: readonly RecordedEvent[];
  readonly onClear: (() => void) | undefined;
}): ReactElement {
  const [filter, setFilter] = useState('');
  const wanted = filter.trim().toLowerCase();
  const logged = events.filter(({ type }) => type !== 'inspection');
  const lines = logged
    .map((event, index) => ({ key: `${index} ${event.at}`, event, text: lineOf(event) }))
    .filter(({ event, text }) => `${event.type} ${text}`.toLowerCase().includes(wanted))
    .reverse();
  return (
    <>
      <div className="bar">
        <input
          type="search"
          aria-label="Filter the log"
          placeholder="Filter: decision, /orders, 503 …"
          value={filter}
          onChange={({ target }) => setFilter(target.value)}
        />
        <span className="soft">
          {lines.length} of {logged.length}
        </span>
        <Action label="Export" onPress={() => save(writeRecording(events))} />
        <ImportAction onImport={onImport} onMessage={onMessage} />
        <Action label="Clear" onPress={onClear} />
      </div>
      {lines.length === 0 ? (
        <Empty title={logged.length === 0 ? 'Nothing has happened yet' : 'Nothing matches'} />
      ) : (
        <ul className="log" aria-label="Events">
          {lines.slice(0, mostShown).map(({ key, event, text }) => (
            <li key={key}>
              <span className="mono soft">{timeOf(event.at)}</span>
              <span className="mono">{event.type}</span>
              <span>{text}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function ImportAction({ onImport, onMessage }: ImportProps): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  const read = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    try {
      onImport(readRecording(await file.text()), file.name);
    } catch (error) {
      onMessage((error as Error).message);
    }
  };
  return (
    <>
      <Action label="Import" onPress={() => input.current?.click()} />
      <input
        ref={input}
        hidden
        type="file"
        accept=".json,application/json"
        aria-label="A recording"
        onChange={({ target }) => {
          void read(target.files?.[0]);
          target.value = '';
        }}
      />
    </>
  );
}

/** Saves a text as a file. */
function save(text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  Object.assign(link, { href: url, download: 'steadfetch-recording.json' }).click();
  URL.revokeObjectURL(url);
}
