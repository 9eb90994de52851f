import { type ReactElement, type ReactNode, useId, useState } from 'react';
import type { OutboxEntry } from '../outbox/entries.ts';
import {
  type OutboxControls,
  useFoundOutbox,
  useOutbox,
  useOutboxEntries,
} from '../outbox/react/use-outbox.ts';
import { Action, Announcement, Countdown, Frame, Group, Item } from './parts.tsx';
import { useTexts } from './texts/texts.tsx';
import type { UiTexts } from './texts/ui-texts.ts';
import { entryWordsOf, type StatusWords } from './texts/words.ts';

/** The argument of an `OutboxPanel` render prop. */
export interface OutboxPanelView extends OutboxControls {
  /** Oldest first, with the text about each. */
  readonly entries: readonly { readonly entry: OutboxEntry; readonly words: StatusWords }[];
}

/** The controls for an app's form that edits a dead letter. */
export interface EditControls {
  /** Sends the entry with these variables instead, under a new key. */
  readonly send: (variables: unknown) => void;
  readonly close: () => void;
}

/** The props of {@link OutboxPanel}. */
export interface OutboxPanelProps {
  /** The name of an entry, for its user. @default the name of its handler, and when it was submitted */
  readonly describe?: ((entry: OutboxEntry) => string) | undefined;
  /** A form that edits the variables of a dead letter. @default none: dead letters have no Edit button */
  readonly edit?: ((entry: OutboxEntry, controls: EditControls) => ReactNode) | undefined;
  /** Renders the content; screen-reader announcements stay. @default the component's own content */
  readonly children?: ((view: OutboxPanelView) => ReactNode) | undefined;
}

/**
 * Shows the entries that wait in the outbox, and those that need the user, with the reason. Its buttons are
 * Send now, Send again, Edit, and Discard, which asks for confirmation. Warns if the browser stores nothing.
 *
 * If the QueryClient has no outbox, it shows nothing; in development it warns.
 *
 * @example
 * ```tsx
 * import { OutboxPanel } from 'steadfetch/ui';
 *
 * export const Outbox = () => (
 *   // One that cannot be read any more has no variables.
 *   <OutboxPanel
 *     describe={({ variables }) => (variables as { title: string } | undefined)?.title ?? 'Order'}
 *   />
 * );
 * ```
 */
export function OutboxPanel(props: OutboxPanelProps): ReactElement | null {
  return useFoundOutbox('OutboxPanel') ? <Panel {...props} /> : null;
}

function Panel({ describe, edit, children }: OutboxPanelProps): ReactElement {
  const texts = useTexts();
  const outbox = useOutbox();
  const entries = (useOutboxEntries() ?? []).filter((entry) => !isDelivered(entry));
  const [news, setNews] = useState('');
  const { storage, dead = 0, discard } = outbox;
  const isKnown = outbox.dead !== undefined;
  const isKept = storage === 'durable' || storage === 'opening';
  const nameOf = describe ?? ((entry: OutboxEntry) => defaultName(entry, texts));
  const onDiscard = async (key: string): Promise<void> => {
    await discard(key);
    setNews(texts.outbox.discarded);
  };
  const shown = entries.map((entry) => ({ entry, words: entryWordsOf(entry, texts) }));
  return (
    <Frame
      className="steadfetch-outbox"
      label={texts.outbox.label}
      state={dead > 0 ? 'dead' : 'well'}
    >
      {children ? (
        children({ ...outbox, entries: shown })
      ) : (
        <>
          {!isKept && <p className="steadfetch-detail">{texts.outbox.notKept}</p>}
          {isKnown && shown.length === 0 && (
            <p className="steadfetch-detail">{texts.outbox.empty}</p>
          )}
          {dead > 1 && <Action label={texts.outbox.retryAll} onPress={outbox.retryAll} />}
          <ul className="steadfetch-entries">
            {shown.map(({ entry, words }) => (
              <EntryRow
                key={entry.idempotencyKey}
                entry={entry}
                words={words}
                name={nameOf(entry)}
                outbox={outbox}
                edit={edit}
                onDiscard={onDiscard}
              />
            ))}
          </ul>
        </>
      )}
      <Announcement text={dead > 0 ? texts.outbox.dead(dead) : news} />
    </Frame>
  );
}

const isDelivered = ({ state, processed }: OutboxEntry): boolean =>
  state === 'done' || (state === 'sending' && processed === 'yes');

interface EntryRowProps {
  readonly entry: OutboxEntry;
  readonly words: StatusWords;
  readonly name: string;
  readonly outbox: OutboxControls;
  readonly edit: OutboxPanelProps['edit'];
  readonly onDiscard: (key: string) => Promise<void>;
}

function EntryRow({ entry, words, name, outbox, edit, onDiscard }: EntryRowProps): ReactElement {
  const { sentence, outbox: texts } = useTexts();
  const id = useId();
  const [asks, setAsks] = useState<'nothing' | 'discard' | 'kept' | 'edit'>('nothing');
  const { idempotencyKey: key, state, pause, nextRetryAt, processed } = entry;
  const isDead = state === 'dead';
  const close = (): void => setAsks('nothing');
  const keep = (): void => setAsks('kept');
  const startDiscard = (): void => setAsks('discard');
  const discard = (): unknown => onDiscard(key);
  const send = (variables: unknown): void => {
    close();
    void outbox.edit(key, variables);
  };
  return (
    <Item state={state} labelledBy={id}>
      <p className="steadfetch-title" id={id}>
        {name}
      </p>
      <p className="steadfetch-detail">
        {sentence(words.title)} {words.detail}
      </p>
      {isNext(entry) && <Countdown retryAt={pause ? pause.retryAt : nextRetryAt} />}
      {asks === 'edit' && edit ? (
        <Group className="steadfetch-edit" label={texts.edit}>
          {processed === 'unknown' && <p className="steadfetch-detail">{texts.mayBeDone}</p>}
          {edit(entry, { send, close })}
        </Group>
      ) : asks === 'discard' ? (
        <Group className="steadfetch-actions" label={texts.discard} onEscape={keep}>
          <Action label={texts.keep} describes={name} onPress={keep} isFirst />
          <Action label={texts.discardForGood} describes={name} onPress={discard} />
        </Group>
      ) : (
        <div key="actions" className="steadfetch-actions">
          {(isDead || isNext(entry)) && (
            <Action
              label={isDead ? texts.retry : texts.sendNow}
              describes={name}
              onPress={() => outbox.retry(key)}
              isPrimary={isDead}
            />
          )}
          {isDead && edit && (
            <Action label={texts.edit} describes={name} onPress={() => setAsks('edit')} />
          )}
          <Action
            label={texts.discard}
            describes={name}
            onPress={startDiscard}
            isFirst={asks === 'kept'}
          />
        </div>
      )}
    </Item>
  );
}

/** Whether it is sent again by itself. */
const isNext = ({ state, pause, nextRetryAt }: OutboxEntry): boolean =>
  pause !== undefined || (state === 'pending' && nextRetryAt !== undefined);

/** One per language: creating one takes a hundred times as long as using it, and a panel may be long. */
const dates = new Map<string, Intl.DateTimeFormat>();

function defaultName({ handler, createdAt }: OutboxEntry, { lang, outbox }: UiTexts): string {
  const date =
    dates.get(lang) ?? new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short' });
  dates.set(lang, date);
  return outbox.entry(handler, date.format(createdAt));
}
