import { english, german, japanese } from 'steadfetch/ui';
import { expect, test } from 'vitest';
import { timeOf } from '../../../src/ui/texts/words.ts';

test.each([
  [1, '1 second', '1 Sekunde', '1秒'],
  [119, '119 seconds', '119 Sekunden', '119秒'],
  [120, '2 minutes', '2 Minuten', '2分'],
  [121, '3 minutes', '3 Minuten', '3分'],
])('a wait of %i s is read out as %s', (seconds, ...expected) => {
  const read = [english, german, japanese].map(({ time }) => timeOf(seconds, time));
  expect(read).toEqual(expected);
});
