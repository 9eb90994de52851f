import { retry, watchConnectivity } from 'steadfetch';
import { expect, test } from 'vitest';
import { instanceOf } from '../../src/core/react-query/instance.ts';
import { setBrowserOnline } from '../core/react-query/network.ts';
import { createRig } from '../core/react-query/rig.tsx';
import type { Mark, Span } from './draw.ts';
import { expectPicture, measure } from './expect-picture.ts';
import { api } from './stage.ts';

interface Lane {
  readonly marks: Mark[];
  readonly spans: Span[];
}

test('the timeline of connectivity is that of the code', async () => {
  const rig = createRig({
    health: {},
    connectivity: watchConnectivity({ check: { url: '/here' } }),
  });
  const { connectivity } = instanceOf(rig.client, 'test');
  const story: string[] = [];
  const lanes = new Map<string, Lane>();
  const laneOf = (name: string): Lane => {
    const lane = lanes.get(name) ?? { marks: [], spans: [] };
    lanes.set(name, lane);
    return lane;
  };
  const enter = (name: string, kind: string, label: string): void => {
    const { spans } = laneOf(name);
    if (spans.at(-1)?.label === label) return;
    spans.push({ atMs: rig.elapsed(), kind, label });
    story.push(`${rig.elapsed()} ${name} ${label}`);
  };
  const kinds = { online: 'up', suspect: 'waiting', offline: 'down' } as const;
  const tell = (): void => {
    const { status = 'online' } = connectivity?.getState() ?? {};
    enter('network', kinds[status], status);
  };
  tell();
  connectivity?.subscribe(tell);
  const names = new Map<number, string>();
  let asked = '';
  rig.steady.subscribe((event) => {
    const { id } = event.operation;
    if (event.type === 'operation:start') names.set(id, asked);
    const name = names.get(id) ?? '';
    if (event.type === 'request:start') enter(name, 'sending', 'sending');
    if (event.type === 'pause:start') enter(name, 'paused', `paused: ${event.reason}`);
    if (event.type === 'decision' && event.decision.kind === 'retry')
      enter(name, 'waiting', 'waiting');
    if (event.type === 'operation:end') enter(name, event.result, event.result);
    if (event.type !== 'request:end') return;
    const { outcome } = event;
    const label = 'status' in outcome ? String(outcome.status) : outcome.kind;
    const kind = outcome.kind === 'ok' ? 'ok' : 'bad';
    laneOf(name).marks.push({ atMs: rig.elapsed(), kind, label });
    story.push(`${rig.elapsed()} ${name} ${label}`);
  });
  const ask = (name: string): void => {
    asked = name;
    const run = ({ signal }: { readonly signal: AbortSignal }): Promise<Response> =>
      rig.steady.fetch(`${api}/${name}`, { signal });
    retry(rig.steady, run).catch(() => {});
  };
  const at = (ms: number): Promise<void> => rig.time.advance(ms - rig.elapsed());

  rig.server.plan('/A', { afterMs: 500 });
  ask('A');
  await at(1000);
  rig.server.plan('/here', 'network', 'network', 'network');
  rig.server.plan('/B', 'network');
  setBrowserOnline(false);
  ask('B');
  await at(4000);
  ask('C');
  await at(9000);
  setBrowserOnline(true);
  await at(12_000);

  expect(story).toEqual([
    '0 network online',
    '0 A sending',
    '500 A 200',
    '500 A succeeded',
    '1000 network suspect',
    '1000 B sending',
    '1000 B network',
    '1000 network offline',
    '1000 B waiting',
    '1500 B paused: offline',
    '4000 C paused: offline',
    '9000 network online',
    '9000 B sending',
    '9000 C sending',
    '9000 B 200',
    '9000 C 200',
    '9000 B succeeded',
    '9000 C succeeded',
  ]);
  const probes: Mark[] = rig.server.sent
    .filter(({ request }) => request.startsWith('HEAD'))
    .map(({ at: atMs, isAnswered }) => ({
      atMs,
      kind: isAnswered ? 'ok' : 'bad',
      label: 'probe',
      isCanary: true,
    }));
  expect(probes.map(({ atMs, kind }) => `${atMs} ${kind}`)).toEqual([
    '1000 bad',
    '3000 bad',
    '7000 bad',
    '9000 ok',
  ]);
  expectPicture('connectivity', {
    title: 'The device is offline: the browser says so, and a probe confirms it',
    endMs: 12_000,
    tickMs: 1000,
    rows: [
      {
        ...laneOf('network'),
        marks: probes,
        name: 'network',
        about: 'useConnectivity',
        notes: [
          measure(1000, 3000, 'a wait'),
          measure(3000, 7000, 'twice as long'),
          measure(7000, 9000, 'the browser says online'),
        ],
      },
      { ...laneOf('A'), name: 'A', about: 'asked at 0 s' },
      { ...laneOf('B'), name: 'B', about: 'asked at 1 s' },
      { ...laneOf('C'), name: 'C', about: 'asked at 4 s' },
    ],
  });
});
