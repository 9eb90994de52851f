import { onlineManager } from '@tanstack/react-query';

type Listener = (event: { readonly type: string }) => void;

/** What the code under test finds where a browser has its window and document. */
export interface BrowserPage {
  /** The browser's own opinion of the network changes. */
  readonly setOnline: (isOnline: boolean) => void;
  readonly remove: () => void;
}

/** The names of the globals that a page has. */
const names = ['document', 'navigator', 'addEventListener', 'removeEventListener'] as const;

/**
 * Puts a page around the code under test, with the events that it may listen to. Not Node's
 * EventTarget: that one takes no light signals.
 */
export function installPage(visibilityState: DocumentVisibilityState): BrowserPage {
  const listeners = new Map<string, Set<Listener>>();
  let onLine = true;
  const addEventListener = (
    type: string,
    listener: Listener,
    options?: boolean | { readonly signal?: AbortSignal },
  ): void => {
    const own = listeners.get(type) ?? new Set();
    listeners.set(type, own.add(listener));
    if (typeof options !== 'object') return;
    options.signal?.addEventListener('abort', () => void own.delete(listener));
  };
  const removeEventListener = (type: string, listener: Listener): void =>
    void listeners.get(type)?.delete(listener);
  const values = {
    document: { visibilityState, addEventListener, removeEventListener },
    navigator: {
      get onLine() {
        return onLine;
      },
    },
    addEventListener,
    removeEventListener,
  };
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  for (const name of names) {
    Object.defineProperty(globalThis, name, {
      value: values[name],
      configurable: true,
      writable: true,
    });
  }
  // It is one for all runs of this process.
  onlineManager.setOnline(true);

  return {
    setOnline(isOnline) {
      onLine = isOnline;
      const type = isOnline ? 'online' : 'offline';
      for (const listener of listeners.get(type) ?? []) listener({ type });
    },
    remove() {
      names.forEach((name, index) => {
        const descriptor = before[index];
        if (descriptor) Object.defineProperty(globalThis, name, descriptor);
        else Reflect.deleteProperty(globalThis, name);
      });
    },
  };
}
