import { hasPage } from '../lib/browser/page.ts';
import { openChannel, type SharePorts } from './channel.ts';
import { watchPageState } from './page-state.ts';

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
