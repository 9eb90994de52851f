import { useMutation, useQuery } from '@tanstack/react-query';
import { act, fireEvent, screen } from '@testing-library/react';
import { mutationOptions, profiles, retry } from 'steadfetch';
import { record, SteadfetchDevtools, SteadfetchDevtoolsPanel } from 'steadfetch/devtools';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createRig, type Rig } from '../core/react-query/rig.tsx';
import { devtools, open, openTab, press } from './rig.tsx';

function Item({ rig, path }: { readonly rig: Rig; readonly path: string }) {
  useQuery({ queryKey: [path], queryFn: () => rig.steady.json(path) });
  return null;
}

const show = (rig: Rig, ...paths: string[]): void => {
  rig.show(
    <>
      {paths.map((path) => (
        <Item key={path} rig={rig} path={path} />
      ))}
      <SteadfetchDevtools />
    </>,
    { strict: true },
  );
};
const badge = (): string =>
  devtools().getByRole('button', { name: /^Steadfetch devtools/ }).ariaLabel ?? '';
const steps = (): string[] =>
  devtools()
    .getAllByRole('heading', { level: 3 })
    .map(({ textContent }) => textContent);

test('the badge says how the worst origin is, and how many operations are paused', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/orders/1', 503, 503, 503);
  rig.server.plan('/orders/2', 503, 503, 503);
  show(rig, '/orders/1', '/orders/2');
  expect(badge()).toBe('Steadfetch devtools: all origins are up, 0 paused');
  await rig.time.advance(100);
  expect(badge()).toBe('Steadfetch devtools: an origin is down, 2 paused');
  await rig.time.advance(20_000);
  expect(badge()).toBe('Steadfetch devtools: all origins are up, 0 paused');
});

test('a page that has sent nothing has a badge without a colour', () => {
  show(createRig());
  expect(badge()).toBe('Steadfetch devtools: no request yet, 0 paused');
});

test.each([
  ['Log', 'input'],
  ['Faults', 'select'],
])('what is typed in a field of the tab %s is no shortcut of the app', (tab, field) => {
  const seen: string[] = [];
  // As the libraries of shortcuts do: a key that is typed in a field is none.
  const onKey = ({ type, target, key }: KeyboardEvent): void => {
    if (!(target as Element).matches('input, select, textarea')) seen.push(`${type} ${key}`);
  };
  const stop = new AbortController();
  for (const type of ['keydown', 'keypress', 'keyup'] as const)
    document.addEventListener(type, onKey, { signal: stop.signal });
  const onReactKey = vi.fn<(tag: string) => void>();
  createRig().show(
    <div onKeyDown={({ target }) => onReactKey((target as Element).tagName)}>
      <SteadfetchDevtools />
    </div>,
  );
  openTab(tab);
  const element = devtools().root.querySelector(field) as HTMLElement;
  for (const type of ['keyDown', 'keyPress', 'keyUp'] as const)
    fireEvent[type](element, { key: 'k', charCode: 107 });
  expect(seen).toEqual([]);
  expect(onReactKey.mock.calls).toEqual([[field.toUpperCase()]]);
  fireEvent.keyDown(devtools().getByRole('tab', { name: /^Log/ }), { key: 'x' });
  stop.abort();
  expect(seen).toEqual(['keydown x']);
  fireEvent.keyDown(element, { key: 'Escape' });
  expect(devtools().queryByRole('dialog')).toBeNull();
});

test('Escape closes the panel, and gives the keyboard back to the badge', async () => {
  const rig = createRig();
  show(rig, '/orders');
  await rig.time.advance(100);
  open();
  const { root, getByRole, queryByRole } = devtools();
  expect(root.activeElement?.textContent).toMatch(/^Origins/);
  fireEvent.keyDown(getByRole('dialog'), { key: 'Escape' });
  expect(queryByRole('dialog')).toBe(null);
  expect(root.activeElement?.ariaLabel).toMatch(/^Steadfetch devtools/);
});

test('the arrow keys go through the tabs, round and round', () => {
  const rig = createRig();
  show(rig);
  open();
  const { root, getByRole } = devtools();
  const go = (key: string): string | undefined => {
    fireEvent.keyDown(getByRole('tablist'), { key });
    return root.activeElement?.getAttribute('data-name') ?? undefined;
  };
  const all = devtools()
    .getAllByRole('tab')
    .map((tab) => tab.getAttribute('data-name'));
  expect(all.map(() => go('ArrowRight'))).toEqual([...all.slice(1), all[0]]);
  expect(go('ArrowLeft')).toBe(all.at(-1));
});

test('an endpoint says its next probe, and which tab sends it', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/orders/1', 503, 503, 503, 503);
  rig.server.plan('/orders/2', 503, 503, 503, 503);
  show(rig, '/orders/1', '/orders/2', '/menu');
  await rig.time.advance(100);
  open();
  const { getByRole } = devtools();
  const row = getByRole('row', { name: /GET \/orders\/:id/ });
  expect(row.textContent).toBe('GET /orders/:idDown–0 %Probe in 1 s by this tab');
  expect(getByRole('row', { name: /GET \/menu/ }).textContent).toBe('GET /menuUp–––');
  expect(getByRole('img', { name: /^GET \/orders\/:id/ }).getAttribute('aria-label')).toBe(
    'GET /orders/:id, the last two minutes: answers in 0 s, failures in 0 s, down for 2 s',
  );
});

test('it says how many more failures there may be', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/orders', 503);
  show(rig, '/orders');
  await rig.time.advance(100);
  open();
  expect(devtools().getByRole('row', { name: /GET \/orders/ }).textContent).toContain(
    '1 more failure until it counts as down',
  );
});

test('each decision is explained with its options, and who has set them', async () => {
  const rig = createRig({ policy: { baseMs: 600 } });
  rig.server.plan('/orders', 503, 404);
  show(rig, '/orders');
  await rig.time.advance(400);
  openTab('Operations');
  press(devtools().getByRole('button', { name: /\["\/orders"\]/ }));
  expect(steps()).toEqual([
    'Request sent',
    'Failed: 503',
    'Decision: retry',
    'Attempt 2',
    'Request sent',
    'Failed: 404',
    'Decision: no further attempt',
    'Failed',
  ]);
  const decision = devtools().getByText('Decision: retry').parentElement;
  expect(decision?.textContent).toBe(
    'Decision: retry' +
      'The server is unavailable. Attempt 1 of 4 failed; the next one starts in 300 ms.' +
      'maxRetries3the default' +
      'backofffullthe default' +
      'baseMs600set by the instance' +
      'factor2the default' +
      'capMs30000the default',
  );
});

test('Retry now and Cancel are those of the query', async () => {
  const rig = createRig();
  rig.server.plan('/a', 503, { body: 1 });
  rig.server.plan('/b', 503);
  show(rig, '/a', '/b');
  await rig.time.advance(100);
  openTab('Operations');
  press(devtools().getByRole('button', { name: /\["\/a"\]/ }));
  press(devtools().getByRole('button', { name: 'Retry now' }));
  await rig.time.advance(100);
  expect(rig.server.times('/a')).toEqual([0, 100]);
  press(devtools().getByRole('button', { name: /\["\/b"\]/ }));
  press(devtools().getByRole('button', { name: 'Cancel' }));
  await rig.time.advance(5000);
  expect(rig.server.times('/b')).toEqual([0]);
  expect(rig.client.getQueryState(['/b'])?.status).toBe('error');
  expect(devtools().getByRole('button', { name: 'Cancel' }).ariaDisabled).toBe('true');
});

test('a recording of another page is replayed in the same panel', async () => {
  const rig = createRig({ health: {} });
  const recorder = record(rig.steady);
  rig.server.plan('/theirs', 503, 503, { body: 1 });
  const { rerender } = rig.show(<Item rig={rig} path="/theirs" />);
  await rig.time.advance(5000);
  const text = recorder.write();
  recorder.stop();
  expect(text).not.toContain('token');
  rerender(rig.wrap(<SteadfetchDevtools key="other" />));
  openTab('Log');
  const file = new File([text], 'theirs.json');
  fireEvent.change(devtools().getByLabelText('A recording'), { target: { files: [file] } });
  await rig.time.settle();
  const { getByText, getByRole, getByLabelText } = devtools();
  expect(getByText('Replay of theirs.json')).toBeDefined();
  press(getByRole('tab', { name: /^Operations/ }));
  const state = (): string => getByRole('button', { name: /\["\/theirs"\]/ }).textContent;
  expect(state()).toMatch(/^Succeeded/);
  const moment = getByLabelText('Moment of the recording') as HTMLInputElement;
  fireEvent.change(moment, { target: { value: `${Number(moment.min) + 200}` } });
  expect(state()).toMatch(/^Waiting/);
  press(getByRole('tab', { name: /^Origins/ }));
  expect(getByRole('row', { name: /GET \/theirs/ }).textContent).toContain('1 more failure');
  press(getByRole('button', { name: 'Play' }));
  await rig.time.advance(6000);
  press(getByRole('tab', { name: /^Operations/ }));
  expect(state()).toMatch(/^Succeeded/);
  press(getByRole('button', { name: 'Back to this page' }));
  expect(devtools().queryByText('Replay of theirs.json')).toBe(null);
});

test('what Export saves is replayed by Import in the same panel, and Clear empties the log', async () => {
  const saved: Blob[] = [];
  // jsdom has neither, and cannot save.
  URL.createObjectURL = (blob) => `blob:${saved.push(blob as Blob)}`;
  URL.revokeObjectURL = () => {};
  const save = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
  const choose = vi.spyOn(HTMLInputElement.prototype, 'click').mockReturnValue();
  onTestFinished(() => {
    Reflect.deleteProperty(URL, 'createObjectURL');
    Reflect.deleteProperty(URL, 'revokeObjectURL');
    save.mockRestore();
    choose.mockRestore();
  });
  const rig = createRig();
  rig.server.plan('/a', 503, { body: 1 });
  show(rig, '/a');
  await rig.time.advance(1000);
  openTab('Log');
  const { getByRole, getByText, getByLabelText, getAllByRole } = devtools();
  const lines = (): readonly string[] => getAllByRole('listitem').map((line) => line.textContent);
  const before = lines();
  press(getByRole('button', { name: 'Export' }));
  const names = save.mock.contexts.map((link) => (link as HTMLAnchorElement).download);
  expect(names).toEqual(['steadfetch-recording.json']);
  press(getByRole('button', { name: 'Clear' }));
  await rig.time.advance(1000);
  expect(getByText('Nothing has happened yet')).toBeDefined();
  press(getByRole('button', { name: 'Import' }));
  expect(choose.mock.contexts).toEqual([getByLabelText('A recording')]);
  const file = new File(saved, 'steadfetch-recording.json');
  fireEvent.change(getByLabelText('A recording'), { target: { files: [file] } });
  await rig.time.settle();
  expect(getByText('Replay of steadfetch-recording.json')).toBeDefined();
  press(getByRole('tab', { name: /^Log/ }));
  expect(lines()).toEqual(before);
});

test('Copy as failing test copies the test of what has failed, and says so', async () => {
  const copied: string[] = [];
  const clipboard = { writeText: async (text: string) => void copied.push(text) };
  Object.defineProperty(navigator, 'clipboard', { value: clipboard, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(navigator, 'clipboard'));
  const rig = createRig();
  rig.server.plan('/a', 503, 404);
  show(rig, '/a', '/b');
  await rig.time.advance(1000);
  openTab('Operations');
  const { getByRole } = devtools();
  press(getByRole('button', { name: /\["\/b"\]/ }));
  expect(getByRole('button', { name: 'Copy as failing test' }).ariaDisabled).toBe('true');
  press(getByRole('button', { name: /\["\/a"\]/ }));
  press(getByRole('button', { name: 'Copy as failing test' }));
  await rig.time.settle();
  expect(getByRole('status').textContent).toBe('The test is copied.');
  // That it runs, and fails, is shown by as-test.node.test.ts.
  expect(copied).toEqual([
    expect.stringContaining('compose(failTimes(1, 503), failTimes(1, 404))'),
  ]);
});

test('what is no recording is refused in words', async () => {
  const rig = createRig();
  show(rig);
  openTab('Log');
  const give = async (text: string): Promise<string> => {
    const target = { files: [new File([text], 'a.json')] };
    fireEvent.change(devtools().getByLabelText('A recording'), { target });
    await rig.time.settle();
    return devtools().getByRole('status').textContent;
  };
  expect(await give('{')).toBe('This is no recording: it is not JSON.');
  expect(await give('{}')).toBe('This is no recording of steadfetch/devtools.');
  expect(await give('{"format":"steadfetch-recording","version":9,"events":[]}')).toBe(
    'This recording has the version 9, not 1.',
  );
});

test('the log is filtered by what its lines say', async () => {
  const rig = createRig();
  rig.server.plan('/a', 503);
  show(rig, '/a', '/b');
  await rig.time.advance(100);
  openTab('Log');
  const { getByRole, getAllByRole } = devtools();
  act(() => void fireEvent.change(getByRole('searchbox'), { target: { value: 'decision' } }));
  expect(getAllByRole('listitem').map(({ lastChild }) => lastChild?.textContent)).toEqual([
    '["/a"] Decision: retry. The server is unavailable. Attempt 1 of 4 failed; the next one starts in 500 ms.',
  ]);
});

test('without a QueryClient, or with one of another kind, it says what to do, and the app goes on', () => {
  const rig = createRig();
  const error = vi.spyOn(console, 'error').mockReturnValue();
  rig.show(
    <>
      <p>The app</p>
      <SteadfetchDevtools client={{ getDefaultOptions: () => ({}) } as never} />
    </>,
  );
  expect(screen.getByRole('alert').textContent).toContain(
    'SteadfetchDevtools: this QueryClient carries no default options of Steadfetch.',
  );
  expect(screen.getByText('The app')).toBeDefined();
  expect(error).toHaveBeenCalled();
});

test('a key that JSON cannot write is shown as such, and its app goes on', async () => {
  const rig = createRig();
  const ring: unknown[] = ['a'];
  ring.push(ring);
  function Ring() {
    useQuery({
      queryKey: ring,
      queryKeyHashFn: () => 'ring',
      queryFn: () => rig.steady.json('/a'),
    });
    return <p>The app</p>;
  }
  rig.show(
    <>
      <Ring />
      <SteadfetchDevtools />
    </>,
  );
  await rig.time.advance(100);
  open();
  for (const name of ['Operations', 'Mutations', 'Log', 'Origins']) {
    const tab = devtools().queryByRole('tab', { name: new RegExp(`^${name}`) });
    if (tab) press(tab);
  }
  expect(screen.getByText('The app')).toBeDefined();
  press(devtools().getByRole('tab', { name: /^Operations/ }));
  expect(devtools().getByRole('button', { name: /a key of 2 parts/ })).toBeDefined();
});

test('the panel alone has no badge, and nothing to close', async () => {
  const rig = createRig();
  rig.show(
    <>
      <Item rig={rig} path="/orders" />
      <SteadfetchDevtoolsPanel theme="dark" />
    </>,
  );
  await rig.time.advance(100);
  const { getByRole, queryByRole, root } = devtools();
  expect(getByRole('row', { name: /GET \/orders/ })).toBeDefined();
  expect(queryByRole('button', { name: 'Close' })).toBe(null);
  expect(root.querySelector('.root')?.getAttribute('data-theme')).toBe('dark');
});

test('Retry now and Cancel are those of a mutation of ours, and Retry now that of retry', async () => {
  const rig = createRig({ apis: [{ match: '/', idempotency: profiles.draft }] });
  rig.server.plan('/orders', 503, 503);
  rig.server.plan('/loop', 503);
  const order = mutationOptions(rig.steady, {
    mutationKey: ['order'],
    mutationFn: (sku: string, { json }) => json('/orders', { method: 'POST', json: sku }),
  });
  function Order() {
    const { mutate, status } = useMutation(order);
    return <button onClick={() => mutate('kite')}>Order: {status}</button>;
  }
  const { getByText } = rig.show(
    <>
      <Order />
      <SteadfetchDevtools />
    </>,
  );
  press(getByText(/^Order/));
  const loop = retry(rig.steady, ({ signal }) => rig.steady.json('/loop', { signal }));
  await rig.time.advance(100);
  openTab('Operations');
  press(devtools().getByRole('button', { name: /POST \/orders/ }));
  press(devtools().getByRole('button', { name: 'Retry now' }));
  await rig.time.advance(100);
  expect(rig.server.times('/orders')).toEqual([0, 100]);
  press(devtools().getByRole('button', { name: 'Cancel' }));
  await rig.time.advance(100);
  expect(getByText(/^Order/).textContent).toBe('Order: error');
  press(devtools().getByRole('button', { name: /GET \/loop/ }));
  expect(devtools().getByRole('button', { name: 'Cancel' }).ariaDisabled).toBe('true');
  press(devtools().getByRole('button', { name: 'Retry now' }));
  await rig.time.advance(10);
  expect(rig.server.times('/loop')).toEqual([0, 300]);
  await loop;
});
