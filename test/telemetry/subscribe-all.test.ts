import { QueryClient } from '@tanstack/react-query';
import { retry, shareAcrossTabs, type Steadfetch, watchConnectivity } from 'steadfetch';
import type { OutboxState } from 'steadfetch/outbox';
import { consoleLogger, subscribeAll, type TelemetryEvent } from 'steadfetch/telemetry';
import { resetSteadfetch, seededRandom } from 'steadfetch/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createStore } from '../../src/core/lib/store.ts';
import { answer, type Handler, origin, refuse } from '../core/fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../core/fetch/observe.ts';
import { open, startedAt, url } from './rig.ts';

beforeEach(fakeTime);

const emptyOutbox: OutboxState = {
  due: 0,
  waiting: 0,
  sending: 0,
  paused: 0,
  dead: 0,
  oldestAt: undefined,
  storage: 'durable',
  wasErased: false,
};

/** Joins the tabs of one browser. */
function createPorts(): NonNullable<Parameters<typeof shareAcrossTabs>[0]> {
  const receivers = new Set<(message: unknown) => void>();
  return {
    open(_, receive) {
      receivers.add(receive);
      return {
        post(message) {
          for (const other of receivers) if (other !== receive) other(message);
        },
        close: () => void receivers.delete(receive),
      };
    },
    watch(listener) {
      listener('visible');
      return () => {};
    },
  };
}

/** What is told of no operation of its own. */
function watchStates(steady: Steadfetch): TelemetryEvent[] {
  const events: TelemetryEvent[] = [];
  subscribeAll(steady, (event) => {
    if (!('operation' in event)) events.push(event);
  });
  return events;
}

describe('subscribeAll', () => {
  test('tells all that steady.subscribe does', async () => {
    const { steady } = open([refuse, answer()], { health: false });
    const some: unknown[] = [];
    const all: unknown[] = [];
    steady.subscribe((event) => some.push(event));
    subscribeAll(steady, (event) => all.push(event));
    observe(retry(steady, (context) => steady.fetch(url, context)));
    await vi.runAllTimersAsync();
    expect(some).toHaveLength(11);
    expect(all).toEqual(some);
  });

  test('an outage of an endpoint begins once and ends once, and says how long it was', async () => {
    const { steady } = open([refuse, refuse, answer()]);
    const events = watchStates(steady);
    observe(steady.fetch(url));
    observe(steady.fetch(url));
    await settled();
    observe(steady.fetch(url));
    observe(steady.fetch(url));
    await vi.runAllTimersAsync();
    const what = { origin, partition: undefined, endpoint: 'GET /items' };
    expect(events).toEqual([
      { type: 'outage:start', at: startedAt, ...what },
      { type: 'outage:end', at: startedAt + 1200, ...what, downMs: 1200 },
    ]);
  });

  test('an outage of an origin names no endpoint, and that of a partition its name', async () => {
    const { steady } = open([refuse, refuse, answer()], {
      apis: [{ match: '/', partition: 'the reports' }],
    });
    const events = watchStates(steady);
    observe(steady.fetch(`${origin}/a`));
    observe(steady.fetch(`${origin}/b`));
    await settled();
    observe(steady.fetch(`${origin}/a`));
    await vi.runAllTimersAsync();
    const what = { origin, partition: 'the reports', endpoint: undefined };
    expect(events).toEqual([
      { type: 'outage:start', at: startedAt, ...what },
      { type: 'outage:end', at: startedAt + 1200, ...what, downMs: 1200 },
    ]);
  });

  test.each(['steady.dispose', 'resetSteadfetch'] as const)(
    'an outage ends, and this tab probes it no more, with %s',
    async (how) => {
      const { steady } = open([refuse], { tabs: shareAcrossTabs(createPorts()) });
      const events = watchStates(steady);
      observe(steady.fetch(url));
      observe(steady.fetch(url));
      await settled();
      observe(steady.fetch(url));
      observe(steady.fetch(url));
      await vi.advanceTimersByTimeAsync(1250);
      if (how === 'steady.dispose') steady.dispose();
      else resetSteadfetch(steady);
      const what = { origin, partition: undefined, endpoint: 'GET /items' };
      const endedAt = startedAt + 1250;
      expect(events).toEqual([
        { type: 'outage:start', at: startedAt, ...what },
        { type: 'leader:start', at: startedAt + 1200, ...what },
        { type: 'outage:end', at: endedAt, ...what, downMs: 1250 },
        { type: 'leader:end', at: endedAt, ...what },
      ]);
    },
  );

  test('of two tabs, the one that probes for both is told so, and when it no longer does', async () => {
    const ports = createPorts();
    const first = open([refuse, refuse, answer()], { tabs: shareAcrossTabs(ports) });
    const second = open([answer()], { tabs: shareAcrossTabs(ports) });
    const [events, others] = [watchStates(first.steady), watchStates(second.steady)];
    observe(second.steady.fetch(`${origin}/news`));
    observe(first.steady.fetch(url));
    observe(first.steady.fetch(url));
    await settled();
    observe(first.steady.fetch(url));
    await vi.runAllTimersAsync();
    const what = { origin, partition: undefined, endpoint: 'GET /items' };
    const [at, endAt] = [startedAt, startedAt + 1200];
    expect(events).toEqual([
      { type: 'outage:start', at, ...what },
      { type: 'leader:start', at: endAt, ...what },
      { type: 'outage:end', at: endAt, ...what, downMs: 1200 },
      { type: 'leader:end', at: endAt, ...what },
    ]);
    expect(others).toEqual([
      { type: 'outage:start', at, ...what },
      { type: 'outage:end', at: endAt, ...what, downMs: 1200 },
    ]);
  });

  test('the network is told of when its status changes', async () => {
    const { steady } = open([answer()], { connectivity: watchConnectivity() });
    const events = watchStates(steady);
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    dispatchEvent(new Event('offline'));
    // Until its origin has answered.
    await settled();
    expect(events).toEqual([
      { type: 'connectivity', at: startedAt, status: 'suspect' },
      { type: 'connectivity', at: startedAt, status: 'online' },
    ]);
    vi.restoreAllMocks();
  });

  test('the outbox is told of when what it counts changes, and not when its oldest entry does', () => {
    const { steady } = open([answer()]);
    const outbox = createStore(emptyOutbox);
    const events: TelemetryEvent[] = [];
    subscribeAll(steady, (event) => events.push(event), { outbox });
    outbox.set({ ...emptyOutbox, due: 2 });
    outbox.set({ ...emptyOutbox, due: 2, oldestAt: startedAt });
    outbox.set({ ...emptyOutbox, dead: 1 });
    const counts = { due: 0, waiting: 0, sending: 0, paused: 0, dead: 0 };
    expect(events).toEqual([
      { type: 'outbox', at: startedAt, ...counts, due: 2 },
      { type: 'outbox', at: startedAt, ...counts, dead: 1 },
    ]);
  });

  test('nothing is told after its end', async () => {
    const { steady } = open([refuse]);
    const outbox = createStore(emptyOutbox);
    const listener = vi.fn<(event: TelemetryEvent) => void>();
    subscribeAll(steady, listener, { outbox })();
    observe(steady.fetch(url));
    observe(steady.fetch(url));
    outbox.set({ ...emptyOutbox, due: 2 });
    await settled();
    expect(listener).not.toHaveBeenCalled();
  });

  test('a listener that throws, is rejected, or takes an hour costs no request and no other listener', async () => {
    vi.stubGlobal('reportError', () => {});
    const { steady, server } = open([refuse, refuse, answer(200, 'content')]);
    const heard: string[] = [];
    const mistakes: readonly (() => unknown)[] = [
      () => {
        throw new Error('a mistake');
      },
      () => Promise.reject(new Error('a mistake')),
      () => new Promise((resolve) => void setTimeout(resolve, 3_600_000)),
    ];
    for (const mistake of mistakes) subscribeAll(steady, mistake);
    subscribeAll(steady, ({ type }) => {
      if (type.startsWith('outage')) heard.push(type);
    });
    observe(steady.fetch(url));
    observe(steady.fetch(url));
    await settled();
    const result = observe(steady.fetch(url).then((response) => response.text()));
    await vi.advanceTimersByTimeAsync(1200);
    expect(result.value).toBe('content');
    expect(server.timesMs).toEqual([0, 0, 1200]);
    expect(heard).toEqual(['outage:start', 'outage:end']);
    vi.unstubAllGlobals();
  });

  test('what is no instance, and a source that there is not, are clear errors', () => {
    const { steady } = open([answer()]);
    expect(() => subscribeAll({} as Steadfetch, () => {})).toThrow(
      'subscribeAll: its first argument',
    );
    expect(() => subscribeAll(steady, () => {}, { outBox: {} } as object)).toThrow(
      'did you mean outbox?',
    );
  });
});

describe('consoleLogger with subscribeAll', () => {
  test('writes outages, the network, and dead letters when there are more of them', async () => {
    const { steady } = open([refuse, refuse, answer()], { connectivity: watchConnectivity() });
    const outbox = createStore(emptyOutbox);
    const lines: string[] = [];
    const write = (level: string) => (line: string, record: object) =>
      lines.push(`${level} ${line} ${JSON.stringify(record)}`);
    const [debug, info, warn, error] = ['debug', 'info', 'warn', 'error'].map(write);
    const console = { debug, info, warn, error } as Parameters<typeof consoleLogger>[0];
    subscribeAll(steady, consoleLogger({ console } as typeof console), { outbox });
    observe(steady.fetch(url));
    observe(steady.fetch(url));
    await settled();
    observe(steady.fetch(url));
    await vi.advanceTimersByTimeAsync(1200);
    outbox.set({ ...emptyOutbox, due: 1, dead: 2 });
    outbox.set({ ...emptyOutbox, dead: 2 });
    expect(lines).toEqual([
      `info [steadfetch] the network is suspect. {"event":"connectivity","at":${startedAt},"connectivity":"suspect"}`,
      `warn [steadfetch] GET /items of ${origin} is down. ` +
        `{"event":"outage:start","at":${startedAt},"origin":"${origin}","endpoint":"GET /items"}`,
      'info [steadfetch] call 3, attempt 1: paused: the server is down; next attempt in 1200 ms. ' +
        `{"event":"pause:start","at":${startedAt},"operation":3,"kind":"call","attempt":1,` +
        `"reason":"server-down","retryAt":${startedAt + 1200}}`,
      'info [steadfetch] call 3, attempt 1: the pause is over: probe. ' +
        `{"event":"pause:end","at":${startedAt + 1200},"operation":3,"kind":"call","attempt":1,"result":"probe"}`,
      `info [steadfetch] the network is online. {"event":"connectivity","at":${startedAt + 1200},"connectivity":"online"}`,
      `info [steadfetch] GET /items of ${origin} is up again after 1200 ms. ` +
        `{"event":"outage:end","at":${startedAt + 1200},"origin":"${origin}","endpoint":"GET /items","downMs":1200}`,
      'error [steadfetch] the outbox has 1 entry to deliver and 2 dead letters. ' +
        `{"event":"outbox","at":${startedAt + 1200},"dead":2,"left":1}`,
    ]);
  });
});

/** One of the ways in which a server treats a request. */
const manners: readonly Handler[] = [answer(), answer(404), answer(503), refuse, answer(500)];

test.each([1, 2, 3])(
  'in a storm, what starts also ends, once, and is silent from then on (seed %i)',
  async (seed) => {
    const random = seededRandom(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const { steady } = open([(request) => pick(manners)(request)], { random });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const running = new Set<number>();
    const down = new Set<string>();
    const ended = new Set<number>();
    const faults: string[] = [];
    let starts = 0;
    subscribeAll(steady, (event) => {
      if ('operation' in event && ended.has(event.operation.id)) faults.push(`late ${event.type}`);
      if (event.type === 'operation:start') {
        starts++;
        if (running.has(event.operation.id)) faults.push('a second start');
        running.add(event.operation.id);
      } else if (event.type === 'operation:end') {
        if (!running.delete(event.operation.id)) faults.push('an end without a start');
        ended.add(event.operation.id);
      } else if (event.type === 'outage:start' || event.type === 'outage:end') {
        const scope = `${event.endpoint}`;
        if (down.has(scope) === (event.type === 'outage:start')) faults.push(event.type);
        if (event.type === 'outage:start') down.add(scope);
        else down.delete(scope);
      }
    });
    for (let round = 0; round < 60; round++) {
      const controller = new AbortController();
      const path = `${origin}/${pick(['a', 'b', 'c'])}`;
      if (random() < 0.5)
        observe(
          retry(steady, (context) => steady.fetch(path, context), { signal: controller.signal }),
        );
      else
        observe(
          client.fetchQuery({
            queryKey: [path],
            queryFn: ({ signal }) => steady.fetch(path, { signal }).then(({ status }) => status),
          }),
        );
      await vi.advanceTimersByTimeAsync(random() * 3000);
      if (random() < 0.2) controller.abort();
      if (random() < 0.1) await client.cancelQueries();
    }
    await vi.runAllTimersAsync();
    expect(faults).toEqual([]);
    expect([...running]).toEqual([]);
    expect(starts).toBeGreaterThan(30);
  },
);
