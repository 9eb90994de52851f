import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig } from '../react-query/rig.tsx';

/**
 * A server is down for 30 s, and then one of its six endpoints goes on failing, each time after 1 s. A page opens as the
 * outage begins, with ten queries of each endpoint. `wasBroken`: it has been used before, while that endpoint failed.
 *
 * @returns when all that is not broken has its answer, in milliseconds after the outage.
 */
async function openPage(broken: string | undefined, wasBroken: boolean): Promise<number> {
  const downAt = wasBroken ? 20_000 : 0;
  const upAt = downAt + 30_000;
  const rig = createRig({
    health: {},
    async fetch(input) {
      const isUp = rig.elapsed() < downAt || rig.elapsed() >= upAt;
      const isBroken = isUp && new Request(input).url.includes(`/${broken}/`);
      await new Promise((come) => setTimeout(come, isBroken ? 1000 : 50));
      return isUp && !isBroken ? Response.json(1) : new Response(null, { status: 503 });
    },
  });
  const ends: number[] = [];
  const show = (name: string, id: number): void => {
    const observer = new QueryObserver(rig.client, {
      queryKey: [name, id],
      queryFn: () => rig.steady.json(`http://api.example/${name}/${id}`),
    });
    observer.subscribe(({ status }) => {
      if (status === 'success') ends.push(rig.elapsed() - upAt);
    });
  };
  if (wasBroken) for (const name of 'abcdef') show(name, 100);
  await rig.time.advance(downAt);
  for (let id = 0; id < 10; id++) for (const name of 'abcdef') show(name, id);
  await rig.time.advance(120_000);
  return Math.max(...ends);
}

test.each<[broken: string | undefined, wasBroken: boolean, wholeMs: number]>([
  [undefined, false, 9198],
  ['a', false, 8940],
  ['b', false, 8947],
  ['a', true, 9239],
  ['b', true, 9239],
  ['c', true, 9239],
])(
  'an endpoint that stays broken after an outage, and fails slowly, keeps nothing else of a page waiting: %s',
  async (broken, wasBroken, wholeMs) => {
    expect(await openPage(broken, wasBroken)).toBe(wholeMs);
  },
);
