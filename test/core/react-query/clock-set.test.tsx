import { retry } from 'steadfetch';
import { expect, test, vi } from 'vitest';
import { createRig } from './rig.tsx';

const hourMs = 3_600_000;

test.each([
  ['back by an hour', -hourMs],
  ['back by a day', -24 * hourMs],
])(
  'a clock that is set %s lengthens no pause, no Retry-After and no RateLimit',
  async (_, byMs) => {
    const rig = createRig({ health: {} });
    rig.server.plan('/down', 503, 503);
    rig.server.plan('/told', { status: 429, headers: { 'Retry-After': '10' } });
    rig.server.plan('/few', { headers: { RateLimit: '"a";r=0;t=10' } });
    const answered: string[] = [];
    const ask = (path: string): void => {
      const run = ({ signal }: { readonly signal: AbortSignal }) =>
        rig.steady.fetch(`http://api.example${path}`, { signal });
      void retry(rig.steady, run).then(() => answered.push(path));
    };
    for (const path of ['/down', '/told', '/few']) ask(path);
    await rig.time.advance(600);
    ask('/few');
    await rig.time.advance(400);
    vi.setSystemTime(rig.time.now() + byMs);
    await rig.time.advance(12_000);
    expect(answered.toSorted()).toEqual(['/down', '/few', '/few', '/told']);
  },
);
