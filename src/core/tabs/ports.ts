import { hasPage, ifAllowed, listen } from '../lib/browser/page.ts';

/** Whether a tab can be seen. `away`: frozen, or in the back-forward cache, where it must hold nothing. */
export type TabLife = 'visible' | 'hidden' | 'away';

/** Calls the listener with the state of this page, now and at each change, until the returned function is called. */
export function watchPageState(listener: (life: TabLife) => void): () => void {
  let isAway = false;
  const update = ({ type }: { readonly type: string }): void => {
    isAway = /pagehide|freeze/.test(type) || (isAway && type === 'visibilitychange');
    listener(isAway ? 'away' : document.visibilityState);
  };
  const types = ['visibilitychange', 'freeze', 'resume', 'pagehide', 'pageshow'];
  const stops = types.map((type) => listen(window, type, update));
  update({ type: '' });
  return () => {
    for (const stop of stops) stop();
  };
}

/** An open channel to the other tabs. */
export interface ShareChannel {
  readonly post: (message: unknown) => void;
  readonly close: () => void;
}

/** Connects the tabs of one browser: BroadcastChannel and the page's lifecycle, or a test's own. */
export interface SharePorts {
  /**
   * Opens the channel of this name. `receive` gets the messages of the other tabs, never its own. Undefined
   * if there is none: each tab then works alone.
   */
  readonly open: (name: string, receive: (message: unknown) => void) => ShareChannel | undefined;
  /** Calls the listener now, and whenever the state may have changed, until the returned function is called. */
  readonly watch: (listener: (life: TabLife) => void) => () => void;
}

/**
 * A BroadcastChannel of this name; undefined if the browser has none, or refuses it in a frame without storage, and for
 * that of Node: under jsdom it would reach the tests of other threads, and keep the process alive.
 */
export function openChannel(
  name: string,
  receive: (message: unknown) => void,
): ShareChannel | undefined {
  try {
    const channel = new BroadcastChannel(name);
    if ('unref' in channel) {
      channel.close();
      return undefined;
    }
    channel.addEventListener('message', ({ data }) => receive(data));
    return { post: channel.postMessage.bind(channel), close: channel.close.bind(channel) };
  } catch {
    return undefined;
  }
}

/** The same with locks: Web Locks, or a test's own. */
export interface TabPorts extends SharePorts {
  /**
   * Requests the lock of this name, which one tab holds at a time; undefined without locks. `granted` is
   * called later, never before this has returned. The returned function releases the lock, or withdraws the
   * request.
   */
  readonly lock: ((name: string, granted: () => void) => () => void) | undefined;
}

/** The ports of this environment, without those that it lacks. */
export function browserPorts(): TabPorts {
  const locks = ifAllowed(() => navigator.locks as LockManager | undefined);
  // A server and React Native have no other tabs, and a channel of Node would keep its process alive.
  const hasTabs = hasPage() || 'WorkerGlobalScope' in globalThis;
  return {
    open: hasTabs ? openChannel : () => ({ post() {}, close() {} }),
    lock: locks && ((name, granted) => requestLock(locks, name, granted)),
    watch: hasPage() ? watchPageState : () => () => {},
  };
}

function requestLock(locks: LockManager, name: string, granted: () => void): () => void {
  const withdrawal = new AbortController();
  let release: (() => void) | undefined;
  let isOver = false;
  const hold = (): Promise<void> | undefined => {
    if (isOver) return undefined;
    granted();
    return new Promise((resolve) => {
      if (isOver) resolve();
      release = resolve;
    });
  };
  locks.request(name, { signal: withdrawal.signal }, hold).catch(() => {
    // If locks are forbidden (in a sandboxed frame), the tab works alone.
    if (!isOver) granted();
  });
  return () => {
    isOver = true;
    // A signal has no effect on a granted lock.
    withdrawal.abort();
    release?.();
  };
}
