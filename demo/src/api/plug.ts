let isPulled = false;

/** Whether the plug is in: what answers in the place of the network must heed it. */
export const isPlugged = (): boolean => !isPulled;

/**
 * Pulls the device's plug, or puts it in again, as far as a page can: what the browser says, and the
 * event by which it says so.
 */
export function setPlugged(plugged: boolean): void {
  if (plugged === !isPulled) return;
  isPulled = !plugged;
  if (plugged) Reflect.deleteProperty(navigator, 'onLine');
  else Object.defineProperty(navigator, 'onLine', { value: false, configurable: true });
  window.dispatchEvent(new Event(plugged ? 'online' : 'offline'));
}
