import { type Ref, useCallback, useState } from 'react';
import type { OutboxEntry } from 'steadfetch/outbox';
import { useOutbox } from 'steadfetch/react';
import type { FlightReport } from '../reports/report.ts';
import type { ItemText } from './describe-item.ts';
import { nameOf } from './describe-report.ts';
import { EditDialog } from './edit-dialog.tsx';
import type { Item } from './items.ts';

interface Props {
  readonly item: Item;
  readonly entry: OutboxEntry<FlightReport>;
  readonly mark: ItemText['mark'];
  readonly isOffline: boolean;
  readonly onLeave: () => void;
}

/** What a user can do with an entry. A button that goes away hands the keyboard over. */
export function ItemActions({ item: { report }, entry, mark, isOffline, onLeave }: Props) {
  const { retry, edit, discard } = useOutbox();
  const [isEditing, setIsEditing] = useState(false);
  const handOver: Ref<HTMLButtonElement> = useCallback(
    (button: HTMLButtonElement | null) => () => {
      if (button && document.activeElement === button) onLeave();
    },
    [onLeave],
  );
  const { idempotencyKey: key, variables } = entry;
  const needsYou = mark === 'needs-you';
  const canSend = needsYou || (mark === 'kept' && !isOffline && isNext(entry));
  const button = (label: string, onPress: () => unknown, isPrimary = false) => (
    <button
      ref={handOver}
      type="button"
      className="button"
      data-primary={isPrimary || undefined}
      onClick={() => void onPress()}
    >
      {label}
      <span className="visually-hidden"> {nameOf(report)}</span>
    </button>
  );
  return (
    <div className="entry-actions">
      {needsYou && button('Edit', () => setIsEditing(true), true)}
      {canSend && button(needsYou ? 'Retry' : 'Send now', () => retry(key))}
      {button('Discard', () => discard(key))}
      {isEditing && variables && (
        <EditDialog
          entry={{ ...entry, variables }}
          onSend={(words) => void edit(key, { ...variables, words })}
          onClose={() => setIsEditing(false)}
        />
      )}
    </div>
  );
}

/** Its turn has come: those behind it in the log wait for it. */
const isNext = ({ pause, nextRetryAt }: OutboxEntry): boolean =>
  pause !== undefined || nextRetryAt !== undefined;
