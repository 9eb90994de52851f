import { onlineManager, useQuery } from '@tanstack/react-query';
import { fireEvent } from '@testing-library/react';
import { SteadfetchDevtools } from 'steadfetch/devtools';
import { beforeEach, expect, test } from 'vitest';
import { createRig, type Rig } from '../core/react-query/rig.tsx';
import { devtools, openTab, press } from './rig.tsx';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});

function Item({ path }: { readonly path: string }) {
  useQuery({ queryKey: [path], queryFn: () => rig.steady.json(path) });
  return null;
}

const choose = (label: string, value: string): void => {
  fireEvent.change(devtools().getByLabelText(label), { target: { value } });
};

/** Adds a fault through the form of the panel. */
function addFault(what: string, fields: Readonly<Record<string, string>> = {}): void {
  choose('What goes wrong', what);
  for (const [label, value] of Object.entries(fields)) choose(label, value);
  press(devtools().getByRole('button', { name: 'Add the fault' }));
}

async function show(...paths: string[]): Promise<void> {
  rig.show(
    <>
      {paths.map((path) => (
        <Item key={path} path={path} />
      ))}
      <SteadfetchDevtools />
    </>,
  );
  await rig.time.advance(100);
  openTab('Faults');
}

/** How a request to there ends. */
const ask = (path: string): Promise<unknown> =>
  rig.steady.json(path).then(
    () => 'answered',
    (error: unknown) => (error as Error).message,
  );
const asked = async (path: string): Promise<unknown> => {
  const answer = ask(path);
  await rig.time.settle();
  return answer;
};

test('the next requests to one endpoint fail, and those to others do not', async () => {
  await show('/a', '/b');
  addFault('fail', { For: 'GET /a', 'With the status': '500', 'How many requests': '2' });
  expect(await asked('/a')).toBe('The server answered 500.');
  expect(await asked('/b')).toBe('answered');
  expect(await asked('/a')).toBe('The server answered 500.');
  expect(await asked('/a')).toBe('answered');
  // Two at the start, one to b, one to a.
  expect(rig.server.sent).toHaveLength(4);
  await rig.time.advance(1000);
  expect(devtools().getByRole('list', { name: 'Active faults' }).textContent).toBe(
    'GET /aanswers 500 to the first 2 requests, then lets them through3 requests metRemove',
  );
});

test('a fault that is removed is over, and the app has its own fetch again', async () => {
  await show('/a');
  addFault('offline');
  expect(onlineManager.isOnline()).toBe(false);
  const waiting = ask('/a');
  await rig.time.settle();
  press(devtools().getByRole('button', { name: 'Remove' }));
  expect(onlineManager.isOnline()).toBe(true);
  await rig.time.advance(1000);
  await waiting;
  expect(await asked('/a')).toBe('answered');
  expect(devtools().getByText('No fault is active')).toBeDefined();
});

const remove = (at: number): void => {
  const button = devtools().getAllByRole('button', { name: 'Remove' })[at];
  if (button) press(button);
};

test.each([
  ['the first', [0, 0]],
  ['the second', [1, 0]],
])(
  'of two faults that take the page offline, %s is removed: it stays so until both are',
  async (_which, order) => {
    await show('/a');
    addFault('offline');
    addFault('offline');
    const seen = order.map((at) => {
      remove(at);
      return onlineManager.isOnline();
    });
    expect(seen).toEqual([false, true]);
  },
);

test('a page that was offline before the fault is so after it', async () => {
  await show('/a');
  onlineManager.setOnline(false);
  addFault('offline');
  remove(0);
  expect(onlineManager.isOnline()).toBe(false);
  onlineManager.setOnline(true);
});

test('the page is taken offline, and not one endpoint, also where one was chosen before', async () => {
  await show('/a', '/b');
  choose('For', 'GET /a');
  addFault('offline');
  expect(devtools().getByRole('list', { name: 'Active faults' }).textContent).toMatch(
    /^every request/,
  );
  remove(0);
});

test('an answer that is lost was given: the server has done it', async () => {
  await show('/a');
  addFault('lose', { 'How many requests': '1' });
  expect(await asked('/a')).toBe(
    'The server did not answer: Failed to fetch: a fault of the devtools.',
  );
  expect(rig.server.times('/a')).toHaveLength(2);
});

test('a body is cut, an answer is slow, and one never comes', async () => {
  await show('/a');
  addFault('cut', { 'How many requests': '1' });
  expect(await asked('/a')).toBe('The answer broke off.');
  addFault('slow', { Seconds: '3' });
  const slow = ask('/a');
  await rig.time.advance(2999);
  const before = rig.server.times('/a').length;
  await rig.time.advance(1);
  expect([before, rig.server.times('/a').length, await slow]).toEqual([1, 2, 'answered']);
  press(devtools().getAllByRole('button', { name: 'Remove' })[1] as HTMLElement);
  addFault('hang', { 'How many requests': '1' });
  const late = ask('/a');
  await rig.time.advance(10_000);
  expect(await late).toBe('The server did not answer in time.');
});

test('a rate limit pauses what comes after it', async () => {
  await show('/a');
  addFault('rate-limit', { Seconds: '5' });
  expect(await asked('/a')).toBe('The server answered 429.');
  const waiting = ask('/a');
  await rig.time.advance(5000);
  press(devtools().getByRole('tab', { name: /^Origins/ }));
  await rig.time.advance(1000);
  expect(await waiting).toBe('answered');
});

test('the badge says that something goes wrong on purpose', async () => {
  await show('/a');
  addFault('fail');
  press(devtools().getByRole('button', { name: 'Close' }));
  expect(devtools().getByRole('button').ariaLabel).toBe(
    'Steadfetch devtools: all origins are up, 0 paused, faults active',
  );
});

test('a number that is none is refused in words', async () => {
  await show('/a');
  addFault('fail', { 'How many requests': '' });
  expect(devtools().getByRole('status').textContent).toBe(
    'failTimes: times is NaN, and must be a whole number from 0, or Infinity.',
  );
});
