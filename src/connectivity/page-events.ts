/**
 * What has happened to the page: the browser has changed its mind about the network; somebody looks
 * at it (again); it may be on its way out (also `window.stop()`); it is put away, and shown again; it
 * was frozen.
 */
type PageEvent = 'online' | 'offline' | 'visible' | 'leave' | 'hide' | 'show' | 'thaw';

type Listener = (event: PageEvent) => void;

const listeners = new Set<Listener>();
let uninstall: (() => void) | undefined;

/**
 * Calls the listener until the returned function is called. Only where there is a document. However
 * many instances there are, the page has one listener for each of its events.
 */
export function onPageEvent(listener: Listener): () => void {
  listeners.add(listener);
  uninstall ??= install();
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    uninstall?.();
    uninstall = undefined;
  };
}

function tell(event: PageEvent): void {
  for (const listener of listeners) listener(event);
}

function install(): () => void {
  const stop = new AbortController();
  const on = (target: EventTarget, type: string, act: () => void): void =>
    target.addEventListener(type, act, { capture: true, signal: stop.signal });
  const look = (): void => {
    if (document.visibilityState === 'visible') tell('visible');
  };
  on(window, 'online', () => tell('online'));
  on(window, 'offline', () => tell('offline'));
  on(document, 'visibilitychange', look);
  on(document, 'resume', () => {
    tell('thaw');
    look();
  });
  on(window, 'beforeunload', () => tell('leave'));
  on(window, 'pagehide', () => tell('hide'));
  // Also back from the back-forward cache.
  on(window, 'pageshow', () => {
    tell('show');
    look();
  });
  // It has no event.
  const native = window.stop;
  const stopLoading = (): void => {
    tell('leave');
    native.call(window);
  };
  if (typeof native === 'function') window.stop = stopLoading;
  return () => {
    stop.abort();
    if (window.stop === stopLoading) window.stop = native;
  };
}
