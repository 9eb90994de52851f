/**
 * Pulls the device's plug, or puts it in again, as far as a page can: what the browser says, and the
 * event by which it says so. What answers in the place of the network must heed it, too.
 */
export function setPlugged(isPlugged: boolean): void {
  if (isPlugged === navigator.onLine) return;
  if (isPlugged) Reflect.deleteProperty(navigator, 'onLine');
  else Object.defineProperty(navigator, 'onLine', { value: false, configurable: true });
  window.dispatchEvent(new Event(isPlugged ? 'online' : 'offline'));
}
