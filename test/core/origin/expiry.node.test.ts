import { expect, test } from 'vitest';
import { openOrigin } from './rig.ts';

test('an attempt that begins to wait while another one of its group expires has its own time', async () => {
  const { admission, ask, send, advance, clock } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const first = ask('a', { isForeground: () => false, maxPauseMs: 1000 });
  const expired: number[] = [];
  const request = {
    endpoint: 'a',
    resource: 'a',
    limitScope: 'a',
    isNew: true,
    id: 10,
    risk: 0,
    priority: 'user-visible',
    isForeground: () => false,
    isFailFast: false,
    askedAt: clock.now(),
  } as const;
  admission.wait(
    { ...request, maxPauseMs: 1000 },
    {
      onPause() {},
      take() {
        expired.push(clock.elapsed());
        admission.wait(
          { ...request, maxPauseMs: 3000 },
          { onPause() {}, take: () => void expired.push(clock.elapsed()) },
        );
      },
    },
  );
  await advance(6000);
  expect(first.story).toEqual(['1000 expired']);
  expect(expired).toEqual([1000, 3000]);
});
