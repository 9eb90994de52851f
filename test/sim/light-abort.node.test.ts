import { expect, test } from 'vitest';
import { lightAbort } from '../../sim/engine/light-abort.ts';
import { createSimulation } from '../../sim/engine/simulation.ts';
import { installGlobals } from '../../sim/engine/virtual-globals.ts';

type Abort = Pick<typeof globalThis, 'AbortController' | 'AbortSignal'>;

/** All that a tab does with signals, and what comes of it. */
function story({ AbortController: Controller, AbortSignal: Signal }: Abort): unknown[] {
  const seen: unknown[] = [];
  const note = (what: unknown) => () => void seen.push(what);
  const controller = new Controller();
  const { signal } = controller;
  const [first, gone, last] = [note('first'), note('gone'), note('last')];
  for (const listener of [first, gone, first, last]) signal.addEventListener('abort', listener);
  signal.removeEventListener('abort', gone);
  const object = { name: 'object', handleEvent: () => void seen.push(object.name) };
  signal.addEventListener('abort', object);
  const linked = Signal.any([signal]);
  linked.addEventListener('abort', () => seen.push(['linked', linked.reason]));
  signal.throwIfAborted();
  seen.push(signal.aborted, signal.reason);
  controller.abort('why');
  controller.abort('again');
  signal.addEventListener('abort', note('too late'));
  seen.push(signal.aborted, signal.reason, linked.aborted);
  const late = Signal.any([signal]);
  seen.push(late.aborted, late.reason, Signal.abort('now').reason);
  try {
    signal.throwIfAborted();
  } catch (error) {
    seen.push(error);
  }
  const bare = Signal.abort();
  const { name, message } = bare.reason as DOMException;
  return [...seen, name, message, bare.reason === bare.reason];
}

test('a light signal does what one of Node does', () => {
  const light = lightAbort as unknown as Abort;
  // Each tells its own listeners before those that follow it.
  expect(story(light)).toEqual(story(globalThis));
  expect(story(light)).toHaveLength(16);
});

test('the globals are the light ones while a simulation runs, but for code that makes Requests', () => {
  const { AbortController: native, setTimeout: nativeSetTimeout } = globalThis;
  const { clock } = createSimulation();
  const seen = [false, true].map((makesRequests) => {
    const restore = installGlobals(clock, Math.random, makesRequests);
    const now = globalThis.AbortController;
    restore();
    return now;
  });
  expect(seen).toEqual([lightAbort.AbortController, native]);
  expect([globalThis.AbortController, globalThis.setTimeout]).toEqual([native, nativeSetTimeout]);
});
