import { onlineManager } from '@tanstack/react-query';
import { memo, type ReactNode, useState, useSyncExternalStore } from 'react';
import { setPlugged } from '../api/plug.ts';
import type { Trouble } from '../api/troubles.ts';

interface Props {
  readonly act: string;
  readonly troubles: readonly Trouble[];
  readonly chosen: Trouble;
}

/** So many are in front. */
const inFront = 3;

/** What goes wrong: three ways in front, and the rest under More. */
export const TroubleSwitch = memo(function TroubleSwitch({ act, troubles, chosen }: Props) {
  const rest = troubles.slice(inFront);
  const [isOpen, setOpen] = useState(rest.includes(chosen));
  const option = (trouble: Trouble): ReactNode => (
    <label key={trouble.id} className="option">
      <input
        type="radio"
        name="trouble"
        checked={trouble === chosen}
        onChange={() => {
          location.hash = `#/${act}/${trouble.id}`;
        }}
      />
      <span>{trouble.label}</span>
    </label>
  );
  return (
    <fieldset className="switch">
      <legend className="visually-hidden">What goes wrong?</legend>
      {troubles.slice(0, inFront).map(option)}
      <button
        type="button"
        className="option-more"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? 'Less' : 'More'}
      </button>
      {isOpen && <div className="rest">{rest.map(option)}</div>}
      <p className="explanation">{chosen.text}</p>
    </fieldset>
  );
});

/** The trouble that the hash names: `#/read/404`. */
export function troubleOf(
  troubles: readonly [Trouble, ...Trouble[]],
  id: string | undefined,
): Trouble {
  return troubles.find((trouble) => trouble.id === id) ?? troubles[0];
}

/** The one that the address names now. */
export const troubleNow = (troubles: readonly [Trouble, ...Trouble[]]): Trouble =>
  troubleOf(troubles, location.hash.split('/')[2]);

/** Pulls the plug of the device, and puts it in again. */
export function PlugButton() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  return (
    <button type="button" className="button" onClick={() => setPlugged(!isOnline)}>
      {isOnline ? 'Go offline' : 'Go online'}
    </button>
  );
}
