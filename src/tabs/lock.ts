/**
 * Asks for the lock of this name, which one tab at a time has. `granted` is called later, never before
 * this has returned. The function that it returns gives the lock back, or stops asking.
 */
export function requestLock(locks: LockManager, name: string, granted: () => void): () => void {
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
