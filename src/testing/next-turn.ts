/** Declared here because only Node has it. */
interface NodeGlobals {
  setImmediate?: (callback: () => void) => unknown;
}

/**
 * Resolves one turn of the real event loop later, when everything that was ready to run has run:
 * promises, `nextTick`, streams, and React's scheduler. No time passes in it.
 *
 * Node could do as browsers do, but its `setImmediate` is eight times faster. A channel is used
 * once only: further messages on it might be handled in the same turn.
 */
export function nextTurn(): Promise<void> {
  const { setImmediate } = globalThis as NodeGlobals;
  return new Promise((resolve) => {
    if (setImmediate) {
      setImmediate(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}
