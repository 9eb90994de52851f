import { expect, inject, test } from 'vitest';
import { rowsAsNative } from '../core/fetch/as-native.ts';

const [origin] = inject('origins');

test.each(rowsAsNative)('%s goes out as fetch sends it', async (_, sendBoth) => {
  const { native, ours, mostRequests } = await sendBoth(origin);
  expect(ours).toEqual(native);
  expect(native.requests.length).toBeLessThanOrEqual(mostRequests);
});
