import { act } from '@testing-library/react';
import { onTestFinished } from 'vitest';

/** What the browser says of the network from now on; with its event, unless the page is only just loading. */
export function setBrowserOnline(isOnline: boolean, hasEvent = true): void {
  Object.defineProperty(navigator, 'onLine', { value: isOnline, configurable: true });
  onTestFinished(() => {
    Reflect.deleteProperty(navigator, 'onLine');
  });
  if (hasEvent) act(() => void window.dispatchEvent(new Event(isOnline ? 'online' : 'offline')));
}
