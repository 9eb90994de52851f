import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { act, fireEvent, screen } from '@testing-library/react';
import type { SteadfetchConfig } from 'steadfetch';
import { useRetryStatus } from 'steadfetch/react';
import { ConnectionBanner, RetryStatus } from 'steadfetch/ui';
import { expect, test } from 'vitest';
import { createRig, type Rig, setOnline } from '../core/react-query/rig.tsx';

const banner = (): HTMLElement => document.querySelector('.steadfetch-banner') as HTMLElement;
const seen = (): string => {
  const copy = banner().cloneNode(true) as HTMLElement;
  for (const told of copy.querySelectorAll('.steadfetch-told')) told.remove();
  return copy.textContent;
};
const heard = (): string => banner().querySelector('[role=status]')?.textContent ?? '';
const tryNow = (): HTMLElement => screen.getByRole('button', { name: 'Try now' });
const press = (): void => {
  act(() => void fireEvent.click(tryNow()));
};

interface CellProps {
  readonly rig: Rig;
  readonly path: string;
  readonly options?: object;
}

function Cell({ rig, path, options = {} }: CellProps) {
  useQuery({ queryKey: [path], queryFn: () => rig.steady.json<string>(path), ...options });
  return <RetryStatus query={[path]} />;
}

/** Everything that is heard of the banner from now on, for so many seconds. */
async function listen(rig: Rig, seconds: number): Promise<readonly string[]> {
  const told = [heard()];
  for (let tenth = 0; tenth < 10 * seconds; tenth++) {
    await rig.time.advance(100);
    if (told.at(-1) !== heard()) told.push(heard());
  }
  return told;
}

const times = (count: number): readonly number[] => Array.from({ length: count }, () => 503);
const poll = { refetchInterval: 1000 };
const missing = 'Some content cannot be loaded right now';

/** A page with one cell at an endpoint that is down, beside one that works. */
function openPage(fails: number, cells?: React.ReactNode, config?: SteadfetchConfig): Rig {
  const rig = createRig({ health: {}, ...config });
  rig.server.plan('/a', ...times(fails));
  rig.show(
    <>
      <ConnectionBanner />
      <Cell rig={rig} path="/works" options={poll} />
      {cells ?? <Cell rig={rig} path="/a" />}
    </>,
  );
  return rig;
}

test('one endpoint that is down is said, once, and that it works again; its query says which it is', async () => {
  const rig = openPage(5);
  await rig.time.advance(1900);
  // A glitch would be over by now.
  expect([seen(), heard()]).toEqual(['', '']);
  await rig.time.advance(600);
  expect(seen()).toBe(`${missing}Next attempt in 1sTry now`);
  expect(screen.getByText('This is not available right now')).toBeTruthy();
  expect(await listen(rig, 60)).toEqual([`${missing}.`, 'It works again.', '']);
});

test('a glitch of one endpoint is not said', async () => {
  const rig = openPage(2);
  expect(await listen(rig, 20)).toEqual(['']);
});

test('what is shown all the same may be out of date', async () => {
  const rig = createRig({ health: {} });
  rig.client.setQueryData(['/a'], 'kites', { updatedAt: 0 });
  rig.server.plan('/a', ...times(40));
  rig.show(
    <>
      <ConnectionBanner />
      <Cell rig={rig} path="/works" options={poll} />
      <Cell rig={rig} path="/a" />
    </>,
  );
  await rig.time.advance(6000);
  expect(seen()).toMatch(/^Some content may be out of dateNext attempt in \ds?Try now$/);
  // What is there is not said to be unavailable.
  expect(screen.getByText('This may be out of date')).toBeTruthy();
  rig.server.unplan('/a');
  expect(await listen(rig, 120)).toEqual([
    'Some content may be out of date.',
    'It works again.',
    '',
  ]);
});

test('what has failed for good is said for as long as it is on screen, and Try now fetches it', async () => {
  const rig = openPage(40, undefined, { policy: { maxPauseMs: 4000 }, apis: [] });
  await rig.time.advance(30_000);
  while (screen.queryByText('This could not be loaded') === null) await rig.time.advance(100);
  const failed = rig.server.times('/a').length;
  expect(seen()).toBe(`${missing}Try now`);
  rig.server.unplan('/a');
  press();
  await rig.time.advance(10);
  expect(rig.server.times('/a')).toHaveLength(failed + 1);
  expect([seen(), heard()]).toEqual(['It works again', 'It works again.']);
});

test.each([
  ['leave', ['The server is down.', '', `${missing}.`]],
  ['refetch', ['The server is down.', '', 'Connected again.', '']],
] as const)(
  'nothing is connected again while a cell has failed for good: whenBack "%s"',
  async (whenBack, expected) => {
    const rig = createRig({ health: {}, policy: { maxPauseMs: 3000, whenBack } });
    rig.server.plan('/a', ...times(20));
    rig.server.plan('/b', ...times(20));
    rig.show(
      <>
        <ConnectionBanner />
        <Cell rig={rig} path="/a" />
        <Cell rig={rig} path="/b" />
      </>,
    );
    await rig.time.advance(8000);
    expect(heard()).toBe('The server is down.');
    for (const path of ['/a', '/b']) rig.server.unplan(path);
    act(() => void rig.steady.fetch('/c').catch(() => {}));
    expect(await listen(rig, 20)).toEqual(expected);
  },
);

test('back online, with a cell that failed before and is not fetched on reconnect, nothing is connected again', async () => {
  const rig = createRig({ policy: { maxRetries: 0 } });
  rig.server.plan('/a', 'network');
  rig.show(
    <>
      <ConnectionBanner />
      <Cell rig={rig} path="/a" options={{ refetchOnReconnect: false }} />
    </>,
  );
  await rig.time.advance(10);
  setOnline(false);
  expect(heard()).toBe('You are offline.');
  setOnline(true);
  expect(await listen(rig, 10)).toEqual(['', `${missing}.`]);
  press();
  expect(await listen(rig, 10)).toEqual([`${missing}.`, 'It works again.', '']);
});

test('Try now sends one probe for all that wait, twenty presses send no more, and a press is answered', async () => {
  const rig = createRig({ health: {} });
  const paths = Array.from({ length: 30 }, (_, index) => `/${index}`);
  for (const path of paths) rig.server.plan(path, ...times(20));
  rig.show(
    <>
      <ConnectionBanner />
      {paths.map((path) => (
        <Cell key={path} rig={rig} path={path} />
      ))}
    </>,
  );
  await rig.time.advance(20_000);
  // Between two probes.
  while (!/in [3-9]s/.test(seen())) await rig.time.advance(100);
  const before = rig.server.times().length;
  tryNow().focus();
  rig.server.plan(paths[0] as string, { status: 503, afterMs: 500 });
  for (let count = 0; count < 20; count++) press();
  await rig.time.settle();
  expect(rig.server.times()).toHaveLength(before + 1);
  await rig.time.advance(600);
  expect(heard()).toBe('The server is down.');
  // A probe has just failed: the next one comes 1.2 s after it.
  for (let count = 0; count < 20; count++) press();
  await rig.time.advance(1000);
  const [last = 0, next = 0] = rig.server.times().slice(-2);
  expect([rig.server.times().length, next - last]).toEqual([before + 2, 1200]);
  expect(document.activeElement).toBe(tryNow());
});

test('a press is heard to try again, the button keeps the keyboard, and hands it on when all is well', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/a', 503, 503, { status: 503, afterMs: 300 }, { afterMs: 300 });
  rig.show(
    <>
      <ConnectionBanner />
      <Cell rig={rig} path="/a" />
    </>,
  );
  await rig.time.advance(1700);
  while (!/waiting/.test(seen())) await rig.time.advance(100);
  expect(seen()).toBe('The server is down1 request is waiting.Next attempt in 1sTry now');
  tryNow().focus();
  press();
  await rig.time.advance(700);
  expect(rig.server.times('/a')).toEqual([0, 500, 1050, 2250]);
  expect([seen(), heard()]).toEqual(['The server is downTrying again.Try now', 'Trying again.']);
  expect(document.activeElement).toBe(tryNow());
  await rig.time.advance(300);
  expect([seen(), heard()]).toEqual(['Connected again', 'Connected again.']);
  expect(document.activeElement).toBe(banner());
});

test('a component that is suspended, and observes nothing yet, is said to be missing', async () => {
  function Suspended({ rig }: { readonly rig: Rig }) {
    const queryFn = (): Promise<string> => rig.steady.json<string>('/a');
    return <p>{useSuspenseQuery({ queryKey: ['/a'], queryFn }).data}</p>;
  }
  const rig = createRig({ health: {} });
  rig.server.plan('/a', ...times(5), { body: 'kites' });
  rig.show(
    <>
      <ConnectionBanner />
      <Cell rig={rig} path="/works" options={poll} />
      <Suspense fallback="…">
        <Suspended rig={rig} />
      </Suspense>
    </>,
  );
  expect(await listen(rig, 30)).toEqual(['', `${missing}.`, 'It works again.', '']);
  expect(screen.getByText('kites')).toBeTruthy();
});

test('a refused query is no outage, nor is one that its user has cancelled', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/refused', 404);
  rig.server.plan('/cancelled', 503);
  rig.show(
    <>
      <ConnectionBanner />
      <Cell rig={rig} path="/refused" />
      <Cell rig={rig} path="/cancelled" />
    </>,
  );
  await rig.time.settle();
  act(() => void fireEvent.click(screen.getByRole('button', { name: 'Cancel' })));
  expect(await listen(rig, 10)).toEqual(['']);
});

test('what goes off the page, or is disabled, is not missing, and is not said to work again', async () => {
  const rig = createRig({ health: {} });
  const page = (cell: React.ReactNode): React.ReactElement =>
    rig.wrap(
      <>
        <ConnectionBanner />
        <Cell rig={rig} path="/works" options={poll} />
        {cell}
      </>,
    );
  const { rerender } = rig.show(null);
  for (const after of [null, <Cell key="a" rig={rig} path="/a" options={{ enabled: false }} />]) {
    rig.server.plan('/a', ...times(20));
    rerender(page(<Cell key="a" rig={rig} path="/a" />));
    await rig.time.advance(4000);
    expect(heard()).toBe(`${missing}.`);
    rerender(page(after));
    expect(await listen(rig, 5)).toEqual([`${missing}.`, '']);
    rerender(page(null));
    rig.client.removeQueries({ queryKey: ['/a'] });
    rig.server.unplan('/a');
    await rig.time.advance(20_000);
  }
});

test('offline, where nothing watches the network, Try now sends what waits, once', async () => {
  const rig = createRig();
  rig.server.plan('/a', 'network', 'network');
  setOnline(false);
  rig.show(
    <>
      <ConnectionBanner />
      <Cell rig={rig} path="/a" />
      <Cell rig={rig} path="/b" />
    </>,
  );
  await rig.time.advance(100);
  expect(seen()).toBe('You are offlineTry now');
  press();
  await rig.time.advance(5000);
  expect(rig.server.times('/a')).toHaveLength(1);
  expect(rig.server.times('/b')).toHaveLength(1);
  expect(seen()).toBe('You are offlineTry now');
});

test('a banner of one origin says nothing of what another one cannot load', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('https://other.example/a', ...times(20));
  function Other() {
    const { status } = useRetryStatus({ queryKey: ['https://other.example/a'] });
    return <p>{status}</p>;
  }
  rig.show(
    <>
      <ConnectionBanner origin="http://localhost:3000" />
      <Cell rig={rig} path="/works" options={poll} />
      <Cell rig={rig} path="https://other.example/a" />
      <Other />
    </>,
  );
  await rig.time.advance(10_000);
  expect(screen.getByText('paused')).toBeTruthy();
  expect([seen(), heard()]).toEqual(['', '']);
});
