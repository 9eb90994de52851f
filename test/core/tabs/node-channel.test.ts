import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, shareAcrossTabs } from 'steadfetch';
import { virtualTime } from 'steadfetch/testing';
import { expect, test, vi } from 'vitest';

test('under jsdom, where the channel is that of Node, tests do not share outages with those of other threads', async () => {
  const time = virtualTime(vi);
  const heard: unknown[] = [];
  const other = new BroadcastChannel('steadfetch');
  other.addEventListener('message', ({ data }) => heard.push(data));
  // One that is closed lets the process end.
  const closed = vi.spyOn(BroadcastChannel.prototype, 'close');
  const steady = createSteadfetch({
    tabs: shareAcrossTabs(),
    random: () => 0.5,
    fetch: async () => new Response(null, { status: 503 }),
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const queryFn = () => steady.json('http://api.example/a');
  const failed = client.fetchQuery({ queryKey: ['a'], queryFn }).catch(() => 'failed');
  await time.advance(600_000);
  expect([await failed, heard]).toEqual(['failed', []]);
  expect(closed).toHaveBeenCalledTimes(1);
  closed.mockRestore();
  other.close();
  steady.dispose();
  time.restore();
});
