import { expect, test } from 'vitest';
import { endpointUrl } from '../../sim/model/endpoints.ts';
import { defaultScenario } from '../../sim/model/scenario.ts';
import { createServer } from '../../sim/model/server.ts';

test('half of the endpoints answer 503 while they are out, and the others answer', () => {
  const server = createServer(
    { ...defaultScenario, kind: 'half-endpoints', endpoints: 4 },
    () => 0,
  );
  const statuses = (atMs: number) =>
    [0, 1, 2, 3].map((index) => server.receive(atMs, endpointUrl(index))?.status);
  expect(statuses(29_000)).toEqual([204, 204, 204, 204]);
  expect(statuses(30_000)).toEqual([503, 503, 204, 204]);
  expect(statuses(60_000)).toEqual([204, 204, 204, 204]);
});
