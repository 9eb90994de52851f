import { expect, test } from 'vitest';
import { describeDecision } from '../../demo/src/recorder/describe-recording.ts';
import { addLane, empty, endWait, pause } from '../../demo/src/recorder/recording.ts';

test('once a pause is over, the request is on its way, also before its attempt has a line', () => {
  const held = pause(addLane(empty, 0, { attempt: 1 }), 10, {
    pausedFor: 'queued',
    retryAt: undefined,
  });
  expect(describeDecision(held)).toBe('Paused: others go first, so that not all are sent at once.');
  const released = endWait(held, 20);
  expect(describeDecision(released)).toBe('The request is on its way.');
  expect(describeDecision(addLane(released, 20, { attempt: 2 }))).toBe('Attempt 2 is on its way.');
});
