import { useEffect, useId, useRef, useState } from 'react';
import type { OutboxEntry } from 'steadfetch/outbox';
import type { FlightReport } from '../reports/report.ts';
import { describeItem } from './describe-item.ts';
import { nameOf } from './describe-report.ts';
import { WordsField } from './report-fields.tsx';
import '../checkout/dialog.css';

interface Props {
  readonly entry: OutboxEntry<FlightReport> & { readonly variables: FlightReport };
  readonly onSend: (words: string) => void;
  readonly onClose: () => void;
}

/** What the shop has refused, to be written anew. */
export function EditDialog({ entry, onSend, onClose }: Props) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const { variables } = entry;
  const [words, setWords] = useState(variables.words);
  useEffect(() => dialog.current?.showModal(), []);
  // The browser gives the keyboard back to where it was, if there is a dialog to close.
  const close = (): void => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      className="dialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-why`}
      onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          close();
          onSend(words);
        }}
      >
        <h3 id={`${id}-title`}>{nameOf(variables)}</h3>
        <p id={`${id}-why`} className="dialog-why">
          {describeItem({ entry }, false).detail}
        </p>
        <WordsField words={words} onChange={setWords} />
        <div className="dialog-actions">
          <button type="button" className="button" onClick={close}>
            Not now
          </button>
          <button type="submit" className="button" data-primary>
            Send it again
          </button>
        </div>
      </form>
    </dialog>
  );
}
