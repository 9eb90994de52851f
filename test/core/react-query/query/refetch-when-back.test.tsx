import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig } from '../rig.tsx';

const url = 'http://api.example/items/1';

/** A query that has failed in an outage of its endpoint, and is still on screen; it is 3000 ms. */
async function failShown(rig: Rig, own: object = {}) {
  rig.server.plan('/items/1', 503, 503);
  const queryFn = () => rig.steady.json<string>(url);
  const observer = new QueryObserver(rig.client, { queryKey: ['item'], queryFn, ...own });
  const stop = observer.subscribe(() => {});
  await rig.time.advance(3000);
  expect(observer.getCurrentResult().status).toBe('error');
  return { observer, stop };
}

/** Somebody asks for something else of the same endpoint, and is answered: the outage is over. */
async function recover(rig: Rig): Promise<void> {
  await rig.steady.fetch('http://api.example/items/2');
}

test('what failed in an outage and is still on screen is fetched again at its end, once, spread over a second', async () => {
  const rig = createRig({ health: {}, policy: { whenDown: 'fail' } });
  const { observer } = await failShown(rig);
  await recover(rig);
  await rig.time.advance(60_000);
  expect(rig.server.times('/items/1')).toEqual([0, 500, 3500]);
  expect(observer.getCurrentResult().status).toBe('success');
});

test('what has left the screen is not', async () => {
  const rig = createRig({ health: {}, policy: { whenDown: 'fail' } });
  const { stop } = await failShown(rig);
  stop();
  await recover(rig);
  await rig.time.advance(60_000);
  expect(rig.server.times('/items/1')).toEqual([0, 500]);
});

test('with whenBack: leave nothing is', async () => {
  const rig = createRig({ health: {}, policy: { whenDown: 'fail', whenBack: 'leave' } });
  await failShown(rig);
  await recover(rig);
  await rig.time.advance(60_000);
  expect(rig.server.times('/items/1')).toEqual([0, 500]);
});
