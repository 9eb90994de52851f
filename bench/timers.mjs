/** Timers that ring when told to, so that no wait is waited for. */
export function createTimers() {
  const due = new Map();
  let last = 0;
  return {
    setTimeout(callback) {
      due.set(++last, callback);
      return last;
    },
    clearTimeout: (handle) => void due.delete(handle),
    setInterval: () => 0,
    clearInterval() {},
    ring() {
      const callbacks = [...due.values()];
      due.clear();
      for (const callback of callbacks) callback();
    },
  };
}

/** Microseconds of processor time: what else runs on the machine does not count. */
export function cpuSince(start) {
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

export const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Waits of up to a second are over in the next turn of the loop; time limits stay as they are. */
export function skipWaits() {
  const { setTimeout, clearTimeout } = globalThis;
  globalThis.setTimeout = (callback, delayMs) =>
    delayMs > 1000 ? setTimeout(callback, delayMs) : setImmediate(() => callback());
  // Either takes the other's, and does nothing.
  globalThis.clearTimeout = (timer) => {
    clearTimeout(timer);
    clearImmediate(timer);
  };
}
