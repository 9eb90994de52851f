import { NotSentError } from 'steadfetch';
import { expect, test } from 'vitest';
import { createEmitter } from '../../src/fetch/events.ts';
import type { LiveOperation } from '../../src/fetch/live-operation.ts';
import { createOperations } from '../../src/fetch/operations.ts';
import { refuse } from '../../src/fetch/refuse.ts';
import { presets } from '../../src/policy/options.ts';
import { firstTimedMs, openGate, type OpenGate } from './open-gate.ts';
import { epochMs } from './virtual-clock.ts';

const rig = (): OpenGate & { readonly live: LiveOperation } => {
  const one = openGate({ slots: { maxInFlight: 2 } });
  const { begin } = createOperations({
    clock: one.clock,
    random: () => 0.5,
    policy: presets.interactive,
    emitter: createEmitter(),
  });
  const live = begin('query', undefined, ['a']);
  live.sent = { name: 'GET /a?token=secret#part', method: 'GET', keyed: false };
  return { ...one, live };
};

test('while the server is down it says so, when it is tried next, and what has failed there', () => {
  const { gate, trip, live } = rig();
  trip();
  const error = refuse(live, { method: 'GET', url: '/a' }, gate, false);
  expect(error).toBeInstanceOf(NotSentError);
  expect(error).toMatchObject({
    message: 'GET /a: not sent, its server is down.',
    outcome: {
      kind: 'held-too-long',
      reason: 'server-down',
      retryAt: epochMs + firstTimedMs,
      processed: 'no',
    },
    operation: { kind: 'query', queryKey: ['a'], attempt: 1 },
    cause: 'second',
  });
});

test('while it asks for a pause it says that, and when the pause and its spread are over', () => {
  const { gate, live } = rig();
  gate.pause(10_000);
  expect(refuse(live, {}, gate, false)).toMatchObject({
    message: 'GET /a: not sent, its server asks for a pause.',
    outcome: { kind: 'held-too-long', reason: 'rate-limited', retryAt: epochMs + 12_500 },
  });
});

test('without a free place it says that', () => {
  const { gate, live } = rig();
  gate.tryEnter(true);
  gate.tryEnter(true);
  expect(refuse(live, {}, gate, false)).toMatchObject({
    message: 'GET /a: not sent, no place was free.',
    outcome: { kind: 'held-too-long', reason: 'queued', retryAt: undefined },
    cause: undefined,
  });
});

test('without budget it says that, whatever the origin is', () => {
  const { gate, trip, live } = rig();
  trip();
  expect(refuse(live, {}, gate, true)).toMatchObject({
    message: 'GET /a: not sent, the retry budget of its origin is spent.',
    outcome: { kind: 'over-budget', processed: 'no' },
  });
});

test('its own last failure is the cause, rather than that of somebody else', () => {
  const { gate, trip, live } = rig();
  trip();
  live.lastError = 'its own';
  expect(refuse(live, {}, gate, false).cause).toBe('its own');
});

test('what an earlier attempt may have done stays unknown', () => {
  const { gate, live } = rig();
  live.unsure = new Set(['POST /a']);
  expect(refuse(live, {}, gate, true).outcome).toMatchObject({ processed: 'unknown' });
  expect(refuse(live, {}, gate, false).outcome).toMatchObject({ processed: 'unknown' });
});
