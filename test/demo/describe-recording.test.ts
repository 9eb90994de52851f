import { expect, test } from 'vitest';
import { describeDecision } from '../../demo/src/recorder/describe-recording.ts';
import { addLane, empty, endWait, hold } from '../../demo/src/recorder/recording.ts';

test('once a hold is over, the request is on its way, also before its attempt has a line', () => {
  const held = hold(addLane(empty, 0, { attempt: 1 }), 10, {
    heldFor: 'queued',
    retryAt: undefined,
  });
  expect(describeDecision(held)).toBe(
    'Held: others go first, so that they do not all come at once.',
  );
  const released = endWait(held, 20);
  expect(describeDecision(released)).toBe('The request is on its way.');
  expect(describeDecision(addLane(released, 20, { attempt: 2 }))).toBe('Attempt 2 is on its way.');
});
