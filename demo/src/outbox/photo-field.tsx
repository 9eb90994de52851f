interface Props {
  readonly photo: File | undefined;
  readonly onChange: (photo: File | undefined) => void;
}

/** A photo, if there is one: the outbox keeps the file itself. */
export function PhotoField({ photo, onChange }: Props) {
  return (
    <label className="photo-field">
      <input
        // A new one has no file: what was sent is not chosen any more.
        key={photo ? 'chosen' : 'none'}
        type="file"
        accept="image/*"
        aria-label="Photo"
        onChange={({ target }) => onChange(target.files?.[0] ?? photo)}
      />
      <span className="button">{photo ? 'Change photo' : 'Add a photo'}</span>
      {photo && <span className="photo-name">{photo.name}</span>}
    </label>
  );
}
