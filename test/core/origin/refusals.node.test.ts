import { describe, expect, test } from 'vitest';
import type { Ask } from '../../../src/core/origin/ask.ts';
import { limitConcurrency } from '../../../src/core/origin/origin.ts';
import { type OriginRig, openOrigin } from './rig.ts';

const full = { concurrency: limitConcurrency({ maxInFlight: 1, maxQueued: 0 }) };
const breakIt = ({ send }: OriginRig): void => {
  send('a', 'outage');
  send('a', 'outage');
};

/** What is refused without being sent. */
const kinds: readonly (readonly [string, OriginRig, (rig: OriginRig) => void, Partial<Ask>])[] = [
  ['its origin is down, and it does not wait', openOrigin(), breakIt, { isFailFast: true }],
  ['its pause may last no time', openOrigin(), breakIt, { maxPauseMs: 0 }],
  [
    'its rate limit lasts longer',
    openOrigin(),
    ({ admission }) => admission.origin.limits.pause('a', 90_000),
    {},
  ],
  ['the queue is full', openOrigin(full), ({ ask }) => void ask('b'), {}],
];

describe.each(kinds)('where %s', (_name, rig, begin, options) => {
  begin(rig);
  const refuse = async (own?: Partial<Ask>): Promise<string | undefined> => {
    // An endpoint that is down is probed once a minute only, by another request.
    rig.admission.origin.health.down()[0]?.probes.start();
    const asked = rig.ask('a', { ...options, ...own });
    for (let ms = 0; ms < 10_000 && asked.story.length === 0; ms += 50) await rig.advance(50);
    return asked.story[0];
  };

  test('requests that come together are refused at once, and those of a loop once a second', async () => {
    const together = [1, 2, 3].map(() => rig.ask('a', options));
    await rig.advance(0);
    const loop = [await refuse(), await refuse(), await refuse()];
    expect(together.map(({ story }) => story)).toEqual([
      ['0 expired'],
      ['0 expired'],
      ['0 expired'],
    ]);
    expect(loop).toEqual(['1000 expired', '2000 expired', '3000 expired']);
  });

  test('the second refusal of a query comes when React Query alone would give up', async () => {
    await rig.advance(11_000);
    const at = (ms: number): string => `${rig.clock.elapsed() + ms} expired`;
    const first = at(0);
    expect(await refuse()).toBe(first);
    const second = at(7150);
    const now = rig.clock.now();
    const retriesAt = [now + 1050, now + 3100, now + 7150];
    expect(await refuse({ retriesAt })).toBe(second);
  });
});

test('a repeated request that cannot be sent goes at once when it can', async () => {
  const { admission, ask, advance, send } = openOrigin();
  breakIt({ send } as OriginRig);
  ask('a', { isFailFast: true });
  await advance(50);
  const again = ask('a', { isFailFast: true });
  await advance(400);
  admission.origin.health.recover('a');
  admission.hastenProbes();
  await advance(0);
  expect(again.story).toEqual(['450']);
});
