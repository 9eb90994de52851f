/** What is sent. */
export interface Note {
  readonly words: string;
  /** Where: each run has a server of its own. */
  readonly url: string;
}

/** What the shop answers. */
export interface Receipt {
  readonly number: number;
}

/** A text of the user, and its button. */
export function NoteButton({ label, note, onSend }: NoteButtonProps) {
  return (
    <form
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        onSend(note);
      }}
    >
      <p className="slip">“{note.words}”</p>
      <button className="button" data-primary>
        Send
      </button>
    </form>
  );
}

interface NoteButtonProps {
  readonly label: string;
  readonly note: Note;
  readonly onSend: (note: Note) => void;
}
