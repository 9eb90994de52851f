import { seededRandom } from 'steadfetch/testing';
import { expect, test } from 'vitest';
import { type Shown, openOrigin } from './rig.ts';

type Asked = ReturnType<ReturnType<typeof openOrigin>['ask']>;

/**
 * Plays a page whose server answers, fails or says nothing, by chance, for about a minute. Every
 * 50 ms in which nothing new was heard or asked, what is shown is compared with what happens.
 *
 * @returns What was shown and not true.
 */
async function play(seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const { admission, ask, clock, log } = openOrigin({}, seededRandom(seed + 1_000_000));
  const untrue: string[] = [];
  const all: Asked[] = [];
  const settled = new Set<Asked>();
  const left = new Set<Asked>();
  const isWaiting = (one: Asked): boolean => one.story.length === 0 && !left.has(one);
  /** The time that is shown as that of the next request, in milliseconds since the beginning. */
  const shownOf = (one: Asked): number =>
    isWaiting(one) ? Number(one.paused()?.split(' ')[1] ?? NaN) : NaN;
  const inFlight = (): Asked[] =>
    all.filter((one) => one.story[0]?.includes('expired') === false && !settled.has(one));
  const acts = [
    () => void all.push(ask(pick(['a', 'b']) ?? 'a', { isForeground: () => seed % 3 > 0 })),
    () => {
      const one = pick(inFlight());
      if (!one) return;
      settled.add(one);
      one.settle(pick<Shown>(['outage', 'outage', 'outage', 'nothing', 'success']) ?? 'outage');
    },
    () => {
      if (random() >= 0.2) return;
      admission.origin.limits.pause(pick(['a', 'b']) ?? 'a', 1000 + 4000 * random());
      admission.reconsider();
    },
    () => {
      const one = random() < 0.2 ? pick(all.filter(isWaiting)) : undefined;
      if (!one) return;
      left.add(one);
      one.leave();
    },
  ];
  const look = async (): Promise<void> => {
    const before = all.map(shownOf);
    const [from, sent] = [clock.elapsed(), log.length];
    clock.advance(50);
    await Promise.resolve();
    const now = clock.elapsed();
    const times = log.slice(sent).map((line) => Math.ceil(Number.parseFloat(line)));
    all.forEach((one, at) => {
      const shown = before[at] ?? NaN;
      const then = shownOf(one);
      const isDue = shown > from && shown <= now;
      if (isDue && !times.includes(Math.ceil(shown))) untrue.push(`nothing sent at ${shown}`);
      if (times.length === 0 && then > shown) untrue.push(`${from}: ${shown} became ${then}`);
      if (times.length === 0 && shown < from) untrue.push(`${from}: ${shown} is over`);
    });
  };
  while (clock.elapsed() < 60_000) {
    pick(acts)?.();
    await Promise.resolve();
    for (let looks = Math.floor(random() * 40); looks > 0; looks--) await look();
  }
  return untrue;
}

test('what is shown as the time of the next request never moves later while nothing new is heard, and then something is sent', async () => {
  const untrue: string[] = [];
  for (let seed = 1; seed <= 300; seed++)
    for (const what of await play(seed)) untrue.push(`seed ${seed}: ${what}`);
  expect(untrue).toEqual([]);
});

test('a countdown goes on where the whole origin is found to be down while it counts', async () => {
  const { ask, send, advance, log } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const asked = ask('a');
  await advance(300);
  expect(asked.paused()).toBe('server-down 1200');
  send('b', 'outage');
  await advance(0);
  expect(asked.paused()).toBe('server-down 1200');
  await advance(900);
  expect(log.at(-1)).toBe('1200 a probe');
});
