import { useState } from 'react';

const command = 'npm install steadfetch @tanstack/react-query';

/** How to install it, to copy. */
export function CopyLine() {
  const [told, setTold] = useState('');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      setTold('Copied');
    } catch {
      // A page that is not secure has no clipboard: the line can be selected.
      setTold('Select it to copy');
    }
  };
  return (
    <p className="copy-line">
      <code>{command}</code>
      <button type="button" onClick={() => void copy()}>
        Copy<span className="visually-hidden"> the install command</span>
      </button>
      <span className="copy-told" role="status">
        {told}
      </span>
    </p>
  );
}
