import { onlineManager } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

/** Pulls the plug, and puts it in again. */
export function ConnectionButton() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
  );
  return (
    <button
      type="button"
      className="button"
      data-primary={!isOnline || undefined}
      onClick={() => onlineManager.setOnline(!isOnline)}
    >
      {isOnline ? 'Go offline again' : 'Go back online'}
    </button>
  );
}
