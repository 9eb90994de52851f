import { hasPage } from '../lib/browser/page.ts';

/** Whether a tab is seen. `away`: frozen, or left and kept for the way back; it must hold nothing. */
export type TabLife = 'visible' | 'hidden' | 'away';

/** Calls the listener with the state of this page, now and at each change, until the returned function is called. */
export function watchPageState(listener: (life: TabLife) => void): () => void {
  let isAway = false;
  const stop = new AbortController();
  const { signal } = stop;
  const update = ({ type }: { readonly type: string }): void => {
    isAway = /pagehide|freeze/.test(type) || (isAway && type === 'visibilitychange');
    listener(isAway ? 'away' : document.visibilityState);
  };
  for (const type of ['visibilitychange', 'freeze', 'resume', 'pagehide', 'pageshow'])
    addEventListener(type, update, { capture: true, signal });
  update({ type: '' });
  return () => stop.abort();
}

/** An open line to the other tabs. */
export interface ShareChannel {
  readonly post: (message: unknown) => void;
  readonly close: () => void;
}

/** What joins the tabs of one browser: BroadcastChannel and the page's life, or a test's own. */
export interface SharePorts {
  /**
   * Opens the line of this name: `receive` gets what the other tabs post, and nothing of its own.
   * Undefined where there is none: then each tab works alone, and looks for itself.
   */
  readonly open: (name: string, receive: (message: unknown) => void) => ShareChannel | undefined;
  /** Calls the listener at once, and whenever it may have changed, until the returned function is called. */
  readonly watch: (listener: (life: TabLife) => void) => () => void;
}

/** A line of this name; none where the browser has none, or refuses it: in a frame without storage. */
export function openChannel(
  name: string,
  receive: (message: unknown) => void,
): ShareChannel | undefined {
  try {
    const channel = new BroadcastChannel(name);
    channel.addEventListener('message', ({ data }) => receive(data));
    return { post: channel.postMessage.bind(channel), close: channel.close.bind(channel) };
  } catch {
    return undefined;
  }
}

/** The same with locks: Web Locks, or a test's own. */
export interface TabPorts extends SharePorts {
  /**
   * Asks for the lock of this name, which one tab at a time has; undefined where there are none.
   * `granted` is called later, never before this has returned. The function that it returns gives the
   * lock back, or stops asking.
   */
  readonly lock: ((name: string, granted: () => void) => () => void) | undefined;
}

/** Those of this environment; what it has not, it does without. */
export function browserPorts(): TabPorts {
  const { navigator } = globalThis as Partial<typeof globalThis>;
  const locks = navigator?.locks;
  // On a server, and in React Native, there is no other tab: a channel of Node keeps its process alive.
  const hasTabs = hasPage() || 'WorkerGlobalScope' in globalThis;
  return {
    open: hasTabs ? openChannel : () => ({ post() {}, close() {} }),
    lock: locks && ((name, granted) => requestLock(locks, name, granted)),
    watch: hasPage() ? watchPageState : () => () => {},
  };
}

function requestLock(locks: LockManager, name: string, granted: () => void): () => void {
  const asking = new AbortController();
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
  locks.request(name, { signal: asking.signal }, hold).catch(() => {
    // Where locks are forbidden (a sandboxed frame), the tab works alone.
    if (!isOver) granted();
  });
  return () => {
    isOver = true;
    // A signal no longer works on a lock that is granted.
    asking.abort();
    release?.();
  };
}
