import { useQuery } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { fallback } from 'steadfetch';
import { useFallback } from 'steadfetch/react';
import { expect, test } from 'vitest';
import type { Span } from './draw.ts';
import { expectPicture } from './expect-picture.ts';
import { api, createStage, laneOf } from './stage.ts';

const queryKey = ['prices'];

test('the timeline of a fallback is that of the code', async () => {
  const stage = createStage();
  const { rig } = stage;
  const seen: Span[] = [];
  function Prices() {
    const { data = 'nothing' } = useQuery({
      queryKey,
      queryFn: () => rig.steady.json<string>(`${api}/prices`),
      ...rig.steady.queryPolicy({
        fallback: fallback(({ lastData }) => lastData),
        maxPauseMs: 3000,
      }),
      staleTime: 60_000,
    });
    const isFallback = useFallback(queryKey) !== undefined;
    const label = isFallback ? `fallback: ${data}` : data;
    if (seen.at(-1)?.label !== label) {
      seen.push({ atMs: rig.elapsed(), kind: isFallback ? 'waiting' : 'up', label });
    }
    return null;
  }
  const down = Array.from({ length: 4 }, () => 503);
  stage.server.plan('/prices', { body: 'prices of 9:00' }, ...down, { body: 'prices of 9:01' });
  rig.show(<Prices />);
  await stage.play(13_000, [
    [2000, () => act(() => void rig.client.invalidateQueries({ queryKey }))],
    [7000, () => stage.ask('prices?page=2')],
  ]);
  expect(seen.map(({ atMs, label }) => `${atMs} ${label}`)).toEqual([
    '0 nothing',
    '0 prices of 9:00',
    '5000 fallback: prices of 9:00',
    '7000 prices of 9:01',
  ]);
  expect(stage.story()).toEqual([
    '0 prices sending',
    '0 prices 200',
    '0 prices succeeded',
    '2000 prices sending',
    '2000 prices 503',
    '2000 prices waiting',
    '2025 prices sending',
    '2025 origin down',
    '2025 prices 503',
    '2025 prices waiting',
    '2025 prices paused: server-down',
    '3050 prices sending',
    '3050 prices probe: 503',
    '3050 prices waiting',
    '3050 prices paused: server-down',
    '4250 prices sending',
    '4250 prices probe: 503',
    '4250 prices waiting',
    '4250 prices paused: server-down',
    '5000 prices failed: paused-too-long',
    '7000 prices?page=2 sending',
    '7000 prices sending',
    '7000 origin up',
    '7000 prices?page=2 200',
    '7000 prices 200',
    '7000 prices?page=2 succeeded',
    '7000 prices succeeded',
  ]);
  expectPicture('fallback', {
    title: 'The last good prices, until the real ones can be had',
    endMs: 13_000,
    tickMs: 1000,
    rows: [
      { ...stage.origin, about: 'useOriginStatus' },
      { ...laneOf(stage, 'prices'), about: 'useRetryStatus' },
      { name: 'screen', about: 'useQuery', spans: seen },
      { ...laneOf(stage, 'prices?page=2'), about: 'another query' },
    ],
  });
});
