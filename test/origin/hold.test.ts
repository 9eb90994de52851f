import { expect, test } from 'vitest';
import { createEmitter, type SteadfetchEvent } from '../../src/fetch/events.ts';
import { holdAt } from '../../src/fetch/hold.ts';
import type { LiveOperation } from '../../src/fetch/live-operation.ts';
import { createOperations, type Operations } from '../../src/fetch/operations.ts';
import { presets } from '../../src/policy/options.ts';
import { observe, type Observed } from '../fetch/observe.ts';
import { firstMs, ok, openGate, type OpenGate } from './open-gate.ts';
import { epochMs } from './virtual-clock.ts';

interface Rig extends OpenGate {
  readonly operations: Operations;
  readonly live: LiveOperation;
  readonly events: SteadfetchEvent[];
  readonly hold: (signal?: AbortSignal) => Observed;
}

/** An operation at the gate of an origin that has just been found to be down. */
function rig(): Rig {
  const one = openGate();
  const emitter = createEmitter();
  const operations = createOperations({
    clock: one.clock,
    random: () => 0.5,
    policy: presets.interactive,
    emitter,
  });
  const live = operations.begin('call');
  const events: SteadfetchEvent[] = [];
  emitter.subscribe((event) => void events.push(event));
  one.trip();
  return {
    ...one,
    operations,
    live,
    events,
    hold: (signal) =>
      observe(
        holdAt(
          one.gate,
          {
            endpoint: 'GET /a',
            risk: 0,
            isNew: true,
            priority: 'user-visible',
            isFailFast: false,
            holdMs: 60_000,
          },
          live,
          signal,
          { clock: one.clock, operations },
        ),
      ),
  };
}

/** Lets promises be kept. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('an operation that waits shows why, and until when', () => {
  const { live, hold } = rig();
  hold();
  expect(live.phase).toBe('held');
  expect([...live.holds]).toMatchObject([
    { held: { reason: 'server-down', retryAt: epochMs + firstMs } },
  ]);
});

test('its turn ends the wait, which is counted and told', async () => {
  const { live, hold, clock, events } = rig();
  const result = hold();
  clock.advance(firstMs);
  await turn();
  expect(result.value).toBe('canary');
  expect([live.phase, live.heldMs, [...live.holds].length]).toEqual(['sending', firstMs, 0]);
  expect(events).toMatchObject([
    { type: 'hold', at: epochMs, reason: 'server-down', retryAt: epochMs + firstMs },
    { type: 'release', at: epochMs + firstMs, release: 'canary' },
  ]);
});

test('news of a wait replaces what was known of it, and adds no second one', () => {
  const { live, hold, gate, ask, clock } = rig();
  hold();
  ask('canary');
  clock.advance(firstMs);
  expect([...live.holds].length).toBe(1);
  expect([...live.holds]).toMatchObject([{ held: { retryAt: undefined } }]);
  gate.pause(10_000);
  expect([...live.holds]).toMatchObject([{ held: { reason: 'rate-limited' } }]);
});

test('two requests of an operation that wait at once are one wait of it', async () => {
  const { live, hold, clock, gate } = rig();
  hold();
  clock.advance(1000);
  hold();
  expect([...live.holds].length).toBe(2);
  for (const { go } of live.holds) go();
  expect([...live.holds].length).toBe(0);
  expect(live.heldMs).toBe(1000);
  await turn();
  expect(gate.getState().waiting).toBe(0);
});

test('an abort drops it, leaves the gate, and leaves no listener behind', async () => {
  const { hold, gate, live, events } = rig();
  const controller = new AbortController();
  const result = hold(controller.signal);
  controller.abort();
  await turn();
  expect(result.value).toBe('dropped');
  expect([gate.getState().waiting, [...live.holds].length]).toEqual([0, 0]);
  expect(events.at(-1)).toMatchObject({ type: 'release', release: 'dropped' });
});

test('the end of its operation drops it, in silence', async () => {
  const { hold, gate, operations, live, events } = rig();
  const result = hold();
  operations.end(live, 'superseded');
  await turn();
  expect(result.value).toBe('dropped');
  expect(gate.getState().waiting).toBe(0);
  expect(events.map(({ type }) => type)).toEqual(['hold', 'operation:end']);
});

test('asked for again, its patience starts anew', async () => {
  const { hold, live, clock, gate, ask } = rig();
  const result = hold();
  ask('canary');
  clock.advance(firstMs);
  gate.pause(50_000);
  for (const { renew } of live.holds) renew();
  clock.advance(59_999);
  await turn();
  expect(result.state).toBe('pending');
  clock.advance(1);
  await turn();
  expect(result.value).toBe('expired');
});

test('after its end it hears of nothing, whatever becomes of the gate', () => {
  const { hold, live, clock, gate, ask } = rig();
  const controller = new AbortController();
  hold(controller.signal);
  ask('other');
  controller.abort();
  clock.advance(firstMs);
  gate.pause(5000);
  expect([[...live.holds].length, live.phase]).toEqual([0, 'sending']);
});

test('an abort in answer to the news that it waits leaves nobody at the gate', async () => {
  const { hold, gate, live } = rig();
  const controller = new AbortController();
  live.onChange = () => controller.abort();
  const result = hold(controller.signal);
  await turn();
  expect(result.value).toBe('dropped');
  expect(gate.getState().waiting).toBe(0);
});

test('an abort in answer to the news that somebody else goes shows no wait that is over', () => {
  const { hold, live, gate, clock, ask } = rig();
  const controller = new AbortController();
  ask('other', { onHold: () => controller.abort() });
  const before = new AbortController();
  hold(before.signal);
  before.abort();
  hold(controller.signal);
  ask('canary');
  clock.advance(firstMs);
  expect(gate.getState().waiting).toBe(1);
  expect([[...live.holds].length, live.phase]).toEqual([0, 'sending']);
});

test('a clock that is set back while it waits takes nothing off its deadline', () => {
  const { hold, live, clock } = rig();
  hold();
  clock.jump(-3_600_000);
  for (const { go } of live.holds) go();
  expect(live.heldMs).toBeGreaterThanOrEqual(0);
});

test('a full gate ends the wait before it began', async () => {
  const { hold, gate, events } = rig();
  gate.pause(120_000);
  const result = hold();
  await turn();
  expect(result.value).toBe('expired');
  expect(events).toEqual([]);
  expect(ok.kind).toBe('alive');
});

test('what a person wants now goes also where it would wait in vain', async () => {
  const { gate, live, hold } = rig();
  gate.pause(600_000);
  const held = hold();
  await turn();
  expect(held.value).toBe('expired');
  live.isUrged = true;
  const urged = hold();
  await turn();
  expect(urged.value).toBe('canary');
});
