/** How many steps one turn of the event loop takes. */
const stepsPerTurn = 256;

/**
 * Calls a step again and again until it returns false. All microtasks that a step leaves have run
 * before the next one.
 */
export function takeSteps(step: () => boolean): void {
  if ('setImmediate' in globalThis) stepByImmediates(step);
  else stepByListeners(step);
}

/** Node empties its queue of microtasks between two immediates. */
function stepByImmediates(step: () => boolean): void {
  let isOver = false;
  const once = (): void => {
    if (!isOver) isOver = !step();
  };
  const turn = (): void => {
    if (isOver) return;
    for (let i = 0; i < stepsPerTurn; i++) setImmediate(once);
    setImmediate(turn);
  };
  turn();
}

/** A browser empties it between two listeners of one event: many times faster than an event a step. */
function stepByListeners(step: () => boolean): void {
  const { port1, port2 } = new MessageChannel();
  let isOver = false;
  for (let i = 0; i < stepsPerTurn; i++) {
    port1.addEventListener('message', () => {
      if (!isOver) isOver = !step();
    });
  }
  const turn = (): void => port2.postMessage(undefined, []);
  port1.addEventListener('message', () => {
    if (isOver) port1.close();
    else turn();
  });
  port1.start();
  turn();
}
