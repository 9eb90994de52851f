import { expect, test } from 'vitest';
import { awsContention, meanContention } from '../../sim/contention/contention-table.ts';

test.each(awsContention)(
  "$title: our waits give the calls and the time of AWS's experiment, within 6 %",
  ({ backoff, calls, timeMs }) => {
    const mean = meanContention(backoff, 100);
    expect(Math.abs(mean.calls / calls - 1)).toBeLessThanOrEqual(0.06);
    expect(Math.abs(mean.timeMs / timeMs - 1)).toBeLessThanOrEqual(0.06);
  },
);
