import { onlineManager, QueryObserver } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { type ConnectivitySourceState, type SteadfetchConfig, watchConnectivity } from 'steadfetch';
import { expect, onTestFinished, test } from 'vitest';
import { instanceOfSteady } from '../../../src/core/react-query/instance.ts';
import { setBrowserOnline } from './network.ts';
import { createRig, type Rig } from './rig.tsx';

const inVain = (answer: 'network' | 'hang' | 503) => Array.from({ length: 100 }, () => answer);

interface Evidence {
  readonly what: string;
  readonly config?: () => SteadfetchConfig;
  /** What comes before the outage, and what shows that its cause may have gone. */
  readonly before?: (rig: Rig) => void;
  readonly show: (rig: Rig) => void | Promise<void>;
}

let connection: EventTarget & { type?: string };
type SourceListener = (state: ConnectivitySourceState) => void;
const listeners = new Set<SourceListener>();
const tellSource: SourceListener = (state) => {
  for (const listener of listeners) listener(state);
};
const source = {
  addEventListener(listener: SourceListener) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};
const check = '/here';

const evidences: readonly Evidence[] = [
  { what: 'the browser says online', show: () => setBrowserOnline(true) },
  {
    what: 'the browser says online, and connectivity is watched',
    config: () => ({ connectivity: watchConnectivity() }),
    show: () => setBrowserOnline(true),
  },
  {
    what: 'React Query is told that it is online',
    before: () => onlineManager.setOnline(false),
    show: () => onlineManager.setOnline(true),
  },
  {
    what: 'the connection is another one',
    show: () => void connection.dispatchEvent(new Event('change')),
  },
  {
    what: 'the connection is another one, and connectivity is watched',
    config: () => ({ connectivity: watchConnectivity() }),
    show: () => void connection.dispatchEvent(new Event('change')),
  },
  {
    what: 'a check is answered after one that was not',
    config: () => ({ connectivity: watchConnectivity({ check }) }),
    before: (rig) => rig.server.plan(check, ...inVain('network')),
    show(rig) {
      rig.server.unplan(check);
      instanceOfSteady(rig.steady, 'test').connectivity?.checkNow();
    },
  },
  {
    what: 'what knows of the network in React Native says that it is connected',
    config: () => ({ connectivity: watchConnectivity({ source }) }),
    show() {
      tellSource({ isConnected: false });
      tellSource({ isConnected: true });
    },
  },
];

const times = (rig: Rig): number[] =>
  rig.server.sent.filter(({ request }) => request.includes('/items/')).map(({ at }) => at);

/** Two queries that are paused by an outage of 41 s: probes come 12 s apart. */
async function pauseQuery(rig: Rig, answer: 'network' | 'hang' | 503): Promise<void> {
  for (const id of [1, 2]) {
    rig.server.plan(`/items/${id}`, ...inVain(answer));
    const queryFn = () => rig.steady.json<string>(`http://api.example/items/${id}`);
    new QueryObserver(rig.client, { queryKey: ['item', id], queryFn }).subscribe(() => {});
  }
  await rig.time.advance(41_000);
}

function openRig({ config = () => ({}), before }: Evidence): Rig {
  connection = new EventTarget();
  Object.defineProperty(navigator, 'connection', { value: connection, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(navigator, 'connection'));
  const rig = createRig({ health: {}, policy: { timeout: 2000 }, ...config() });
  rig.client.mount();
  onTestFinished(() => rig.client.unmount());
  before?.(rig);
  onlineManager.setOnline(true);
  return rig;
}

/** An outage of 41 s, and what shows that its cause may have gone. @returns the rig, and what is sent from then on. */
async function showEvidence(one: Evidence, answer: 'network' | 'hang' | 503, isBack: boolean) {
  const rig = openRig(one);
  await pauseQuery(rig, answer);
  const before = times(rig).length;
  if (isBack) for (const id of [1, 2]) rig.server.unplan(`/items/${id}`);
  if (one.what.startsWith('React Query')) onlineManager.setOnline(false);
  await act(async () => one.show(rig));
  await rig.time.advance(0);
  return { rig, sent: times(rig).slice(before) };
}

test.each(evidences)('$what: an outage that no answer has shown is probed at once', async (one) => {
  const { rig, sent } = await showEvidence(one, 'network', true);
  expect(sent[0]).toBe(41_000);
  await rig.time.advance(1000);
  for (const id of [1, 2]) expect(rig.client.getQueryData(['item', id])).toMatch(/^GET/);
});

test.each(evidences)('$what: so is one of time-outs, beside a probe that hangs', async (one) => {
  const { sent } = await showEvidence(one, 'hang', true);
  expect(sent[0]).toBe(41_000);
});

test.each(evidences)('$what: what its server has answered is not', async (one) => {
  const { sent } = await showEvidence(one, 503, false);
  expect(sent).toEqual([]);
});

test('a new estimate of the same connection is none', async () => {
  const rig = openRig({ what: '', show() {} });
  await pauseQuery(rig, 'network');
  const before = times(rig).length;
  connection.type = 'wifi';
  connection.dispatchEvent(new Event('change'));
  await rig.time.advance(0);
  const changed = times(rig).length;
  connection.dispatchEvent(new Event('change'));
  await rig.time.advance(0);
  expect([changed, times(rig).length]).toEqual([before + 1, before + 1]);
});
