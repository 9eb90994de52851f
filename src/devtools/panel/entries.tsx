import { type ReactElement, useMemo, useState, useSyncExternalStore } from 'react';
import type { OutboxEntry } from '../../outbox/entries.ts';
import type { Outbox } from '../../outbox/query-adapter/outbox.ts';
import { entriesView } from '../../outbox/query-adapter/view.ts';
import { unopened } from '../../outbox/state.ts';
import { reasonOf, upper } from '../explain.ts';
import {
  Action,
  Chip,
  Empty,
  timeUntil,
  processedWords,
  stateTones,
  stateWords,
} from './parts.tsx';

const deadReasons = {
  refused: 'the server refused it',
  'not-repeatable': 'it may have been done, and could be done twice',
  'answer-lost': 'it was done, and its answer could not be read',
  expired: 'it may have been done, and its key has expired',
  'age-unknown': 'it may have been done, and the age of its key is not known',
  'cannot-find-out': 'it may have been done, and its key no longer tells',
  superseded: 'a later write to its URL was sent',
  'max-attempts': 'maxAttempts of its handler was reached',
  'max-age': 'maxAgeMs of its handler has passed',
  'handler-missing': 'no handler has its name',
  'not-migrated': 'its handler has no way from its version to the present one',
  unreadable: 'it cannot be read any more',
  'parent-dead': 'an entry that it refers to is a dead letter',
  'answer-missing': 'the answer that it refers to is not known',
} as const satisfies Record<NonNullable<OutboxEntry['reason']>, string>;

/** The entries of the outbox, and the actions on each. */
export function Entries({
  outbox,
  now,
  onMessage,
}: {
  readonly outbox: Outbox;
  readonly now: number;
  readonly onMessage: (text: string) => void;
}): ReactElement {
  const view = useMemo(() => entriesView(outbox, {}), [outbox]);
  const entries = useSyncExternalStore(view.subscribe, view.getState, view.getState);
  const state = useSyncExternalStore(outbox.subscribe, outbox.getState, () => unopened);
  return (
    <section className="card" aria-label="Outbox">
      <header>
        <h2>Outbox</h2>
        <span className="soft">
          {state.storage === 'durable'
            ? 'kept in IndexedDB'
            : state.storage === 'opening'
              ? 'opening its database'
              : `kept in this page only: ${state.storage}`}
        </span>
        <span className="grow" />
        {(state.dead ?? 0) > 1 && (
          <Action label="Send all dead letters" onPress={outbox.retryAll} />
        )}
      </header>
      {entries?.length ? (
        <ul className="list">
          {entries.map((entry) => (
            <Entry
              key={entry.idempotencyKey}
              entry={entry}
              outbox={outbox}
              now={now}
              onMessage={onMessage}
            />
          ))}
        </ul>
      ) : (
        <Empty title={entries ? 'The outbox is empty' : 'Reading the entries'} />
      )}
    </section>
  );
}

function Entry({
  entry,
  outbox,
  now,
  onMessage,
}: {
  readonly entry: OutboxEntry;
  readonly outbox: Outbox;
  readonly now: number;
  readonly onMessage: (text: string) => void;
}): ReactElement {
  const { idempotencyKey: key, handler, state, attempts, reason, variables } = entry;
  const [isEdited, setIsEdited] = useState(false);
  const why = reasonsOf(entry, now);
  return (
    <li className="in" aria-label={`${handler} ${key}`}>
      <div className="row">
        <Chip tone={stateTones[state] ?? 'plain'} isBusy={state === 'sending'}>
          {stateWords[state]}
        </Chip>
        <b>{handler}</b>
        <span className="soft">
          {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
        </span>
        <EntryActions
          entry={entry}
          outbox={outbox}
          onEdit={() => setIsEdited(true)}
          onMessage={onMessage}
        />
      </div>
      {why.length > 0 && <p className={reason ? 'bad' : 'soft'}>{why.map(upper).join('. ')}</p>}
      <EntryFacts entry={entry} />
      {isEdited ? (
        <Editor
          entry={entry}
          onSend={async (next) => {
            setIsEdited(false);
            await outbox.edit(key, next);
            onMessage(`${handler}: sent with other variables, under a new key.`);
          }}
          onClose={() => setIsEdited(false)}
        />
      ) : (
        variables !== undefined && <pre className="mono">{textOf(variables)}</pre>
      )}
    </li>
  );
}

/** Why it is in its state, and when that ends. */
function reasonsOf(entry: OutboxEntry, now: number): readonly string[] {
  const { state, reason, pause, lastError, nextRetryAt, waitsFor } = entry;
  const isDue = state === 'pending' && nextRetryAt !== undefined;
  return [
    reason && deadReasons[reason],
    pause && reasonOf(pause.reason),
    waitsFor && 'another version of the app has submitted it',
    isDue && `next attempt ${timeUntil(nextRetryAt, now)}`,
    lastError && lastError.message,
  ].filter((text) => typeof text === 'string');
}

function EntryFacts({
  entry: { idempotencyKey, processed, isDurable },
}: {
  readonly entry: OutboxEntry;
}): ReactElement {
  return (
    <dl className="facts">
      <div>
        <dt>At the server</dt>
        <dd>{upper(processedWords[processed])}</dd>
      </div>
      <div>
        <dt>Kept</dt>
        <dd>{isDurable ? 'On the disk' : 'In this page only'}</dd>
      </div>
      <div>
        <dt>Idempotency key</dt>
        <dd className="mono key-text">{idempotencyKey}</dd>
      </div>
    </dl>
  );
}

/** The actions on an entry. Discard asks for confirmation. */
function EntryActions({
  entry: { idempotencyKey: key, handler, state },
  outbox,
  onEdit,
  onMessage,
}: {
  readonly entry: OutboxEntry;
  readonly outbox: Outbox;
  readonly onEdit: () => void;
  readonly onMessage: (text: string) => void;
}): ReactElement {
  const [isDiscarded, setIsDiscarded] = useState(false);
  const isOver = state === 'done';
  return (
    <span className="acts">
      <Action
        label={state === 'dead' ? 'Send again' : 'Send now'}
        onPress={isOver || state === 'sending' ? undefined : () => outbox.retry(key)}
      />
      <Action label="Edit" onPress={isOver || state === 'sending' ? undefined : onEdit} />
      {isDiscarded ? (
        <>
          <Action
            label="Discard for good"
            onPress={async () => {
              await outbox.discard(key);
              onMessage(`${handler}: discarded.`);
            }}
          />
          <Action label="Keep" onPress={() => setIsDiscarded(false)} />
        </>
      ) : (
        <Action label="Discard" onPress={isOver ? undefined : () => setIsDiscarded(true)} />
      )}
    </span>
  );
}

function Editor({
  entry: { variables, processed },
  onSend,
  onClose,
}: {
  readonly entry: OutboxEntry;
  readonly onSend: (variables: unknown) => unknown;
  readonly onClose: () => void;
}): ReactElement {
  const [text, setText] = useState(() => textOf(variables));
  const parsed = useMemo((): { readonly value: unknown } | undefined => {
    try {
      return { value: JSON.parse(text) };
    } catch {
      return undefined;
    }
  }, [text]);
  return (
    <div className="edit">
      {processed !== 'no' && (
        <p className="warn">
          It may have been done already: with other variables it may be done twice.
        </p>
      )}
      <textarea
        className="mono"
        aria-label="Variables, as JSON"
        aria-invalid={!parsed}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div className="actions">
        <Action label="Send" onPress={parsed && (() => onSend(parsed.value))} isPrimary />
        <Action label="Do not edit" onPress={onClose} />
        {!parsed && <span className="bad">This is not JSON.</span>}
      </div>
    </div>
  );
}

/** A value that JSON cannot write is shown by its type. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value, undefined, 2) ?? typeof value;
  } catch {
    return typeof value;
  }
}
