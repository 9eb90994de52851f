import { useId, useState } from 'react';
import type { EditControls } from 'steadfetch/ui';
import type { Note } from './note.tsx';

/** Another text for a note that was refused. */
export function EditNote({ note, send, close }: EditControls & { readonly note: Note }) {
  const id = useId();
  const [words, setWords] = useState(note.words);
  return (
    <form
      className="edit-note"
      aria-label="Edit the note"
      onSubmit={(event) => {
        event.preventDefault();
        send({ ...note, words });
      }}
    >
      <label className="visually-hidden" htmlFor={id}>
        Note
      </label>
      <input
        id={id}
        className="field"
        value={words}
        autoFocus
        required
        onChange={({ target }) => setWords(target.value)}
      />
      <button className="button" data-primary>
        Send it
      </button>
      <button type="button" className="button" onClick={close}>
        Not now
      </button>
    </form>
  );
}
