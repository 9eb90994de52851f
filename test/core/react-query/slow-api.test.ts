import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig } from './rig.tsx';

/** When ten queries end that a page asks for which is opened in an outage of 20 s. */
async function endsOf(answersMs: number): Promise<string[]> {
  const rig = createRig({
    health: {},
    async fetch() {
      const isDown = rig.elapsed() < 20_000;
      await new Promise((come) => setTimeout(come, isDown ? 20 : answersMs));
      return Response.json(1, { status: isDown ? 503 : 200 });
    },
  });
  const ends: string[] = [];
  for (let id = 0; id < 10; id++) {
    const observer = new QueryObserver(rig.client, {
      queryKey: [id],
      queryFn: () => rig.steady.json(`/products/${id}`),
    });
    const unsubscribe = observer.subscribe(({ status }) => {
      if (status === 'pending') return;
      ends.push(`${rig.elapsed()} ${status}`);
      unsubscribe();
    });
  }
  await rig.time.advance(400_000);
  return ends;
}

// Nobody knows what is usual there, so no answer is slow: but each that is waited for longer than 300 ms
// doubles the gap.
test.each([
  [50, 25_163],
  [400, 26_080],
  [1000, 28_362],
])(
  'a page that was opened in an outage gets all that it has asked for, from an API that takes %d ms for everything',
  async (answersMs, lastMs) => {
    const ends = await endsOf(answersMs);
    expect(ends.filter((end) => end.endsWith(' success'))).toHaveLength(10);
    expect(ends.at(-1)).toBe(`${lastMs} success`);
  },
);
