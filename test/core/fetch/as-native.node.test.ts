import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HostileServer, startServer } from '../../browser/server.ts';
import { rowsAsNative } from './as-native.ts';

let server: HostileServer;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test.each(rowsAsNative)("%s goes out as Node's fetch sends it", async (_, sendBoth) => {
  const { native, ours, mostRequests } = await sendBoth(server.origin);
  expect(ours).toEqual(native);
  expect(native.requests.length).toBeLessThanOrEqual(mostRequests);
});
