import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

// Chromium keeps a second read of a URL waiting for the first (cache-lock.test.ts), which is not aborted when it is late.
test.each<RequestCache | undefined>([undefined, 'no-store', 'reload', 'no-cache', 'force-cache'])(
  'the retry of a read that hangs does not wait in the browser for it, with cache mode %s',
  async (cache) => {
    const talk = openTalk(origin, 'hang', 'ok');
    const steady = createSteadfetch({ policy: { timeout: 300 } });
    onTestFinished(() => steady.dispose());
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    onTestFinished(() => client.clear());
    const data = client.fetchQuery({
      queryKey: ['a'],
      queryFn: () => steady.json(talk.url, cache && { cache }),
    });
    await talk.arrived(2);
    expect(await data).toEqual({ id: 1 });
    expect((await talk.closed(2)).requests.length).toBe(2);
  },
);
