import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  type PolicyOptions,
  type Steadfetch,
  type SteadfetchConfig,
  type SteadfetchEvent,
} from 'steadfetch';
import { onTestFinished } from 'vitest';
import type { Admission } from '../../src/core/origin/admission.ts';
import { originStatus } from '../../src/core/origin/status.ts';
import { instanceOf } from '../../src/core/react-query/instance.ts';
import { createRig, type Rig } from '../core/react-query/rig.tsx';
import type { Mark, Row, Span } from './draw.ts';

export const api = 'http://api.example';

/** What has become of one query, to be compared and to be drawn. */
export interface Lane extends Row {
  readonly marks: Mark[];
  readonly spans: Span[];
}

/** One tab with its queries. */
export interface Tab {
  readonly steady: Steadfetch;
  readonly gate: () => Admission;
  /** Asks for `/name`, as a query of that name, and records what becomes of it. */
  readonly ask: (name: string, policy?: PolicyOptions) => void;
  readonly lanes: ReadonlyMap<string, Lane>;
  /** The lanes and the origin, as text: "500 A 503", "1500 A paused: server-down". */
  readonly story: () => readonly string[];
  /** The row of the origin's state. */
  readonly origin: Lane;
}

/** What a failed attempt, or a good one, is called in a picture. */
const resultOf = (event: SteadfetchEvent & { readonly type: 'request:end' }): string =>
  'status' in event.outcome ? String(event.outcome.status) : event.outcome.kind;

/** A tab on the virtual time and before the server of a rig. */
function openTab(rig: Rig, steady: Steadfetch, client: QueryClient): Tab {
  const lanes = new Map<string, Lane>();
  const log: string[] = [];
  const findLane = (name: string): Lane => {
    const known = lanes.get(name);
    if (known) return known;
    const lane: Lane = { name, marks: [], spans: [] };
    lanes.set(name, lane);
    return lane;
  };
  const enter = (lane: Lane, kind: string, label: string): void => {
    if (lane.spans.at(-1)?.label === label) return;
    lane.spans.push({ atMs: rig.elapsed(), kind, label });
    log.push(`${rig.elapsed()} ${lane.name} ${label}`);
  };
  const probes = new Set<string>();
  steady.subscribe((event) => {
    const name = event.operation.queryKey?.join(' ');
    if (name === undefined) return;
    const lane = findLane(name);
    if (event.type === 'pause:start') enter(lane, 'paused', `paused: ${event.reason}`);
    if (event.type === 'pause:end' && event.result === 'probe') probes.add(name);
    if (event.type === 'request:start') enter(lane, 'sending', 'sending');
    if (event.type === 'request:end') {
      const result = resultOf(event);
      const isCanary = probes.delete(name);
      const label = isCanary ? `probe: ${result}` : result;
      const kind = event.outcome.kind === 'ok' ? 'ok' : 'bad';
      lane.marks.push({ atMs: rig.elapsed(), kind, label, isCanary });
      log.push(`${rig.elapsed()} ${name} ${label}`);
    }
    if (event.type === 'decision') {
      const { kind, reason } = event.decision;
      if (kind === 'retry') enter(lane, 'waiting', 'waiting');
      else enter(lane, 'failed', `failed: ${reason}`);
    }
    if (event.type === 'operation:end' && event.result === 'succeeded')
      enter(lane, 'succeeded', 'succeeded');
  });
  const { origins } = instanceOf(client, 'openTab');
  const origin: Lane = { name: 'origin', marks: [], spans: [{ atMs: 0, kind: 'up', label: 'up' }] };
  const state = originStatus(origins, api);
  state.subscribe(() => {
    const { status } = state.getState();
    enter(origin, status, status);
  });
  return {
    steady,
    gate: () => origins.admissionOf(`${api}/`),
    lanes,
    origin,
    story: () => log,
    ask(name, policy = {}) {
      const queryFn = () => steady.json(`${api}/${name.replaceAll(' ', '-')}`);
      const options = { queryKey: [name], queryFn, ...steady.queryPolicy(policy) };
      client.fetchQuery(options).catch(() => {});
    },
  };
}

/** The stage of a picture: a server, a tab, and a script of what happens when. */
export function createStage(config: SteadfetchConfig = {}) {
  const rig = createRig({ health: {}, ...config });
  const tab = openTab(rig, rig.steady, rig.client);
  return {
    rig,
    server: rig.server,
    ...tab,
    /** A tab beside the first. */
    openTab(more: SteadfetchConfig): Tab {
      const steady = createSteadfetch({ fetch: rig.server.fetch, random: () => 0.5, ...more });
      const client = new QueryClient({ defaultOptions: steady.defaultOptions });
      onTestFinished(() => client.clear());
      return openTab(rig, steady, client);
    },
    /** Lets time pass, and does each thing at its time. */
    async play(endMs: number, script: readonly (readonly [atMs: number, act: () => void])[]) {
      for (const [atMs, act] of script) {
        await rig.time.advance(atMs - rig.elapsed());
        act();
        await rig.time.advance(0);
      }
      await rig.time.advance(endMs - rig.elapsed());
    },
  };
}

/** What has become of the query of this name. */
export function laneOf({ lanes }: Tab, name: string): Lane {
  const lane = lanes.get(name);
  if (!lane) throw new Error(`Nothing was asked by the name of ${name}.`);
  return lane;
}
