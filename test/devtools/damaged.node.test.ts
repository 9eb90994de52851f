import { parseAst } from 'vite';
import { createSteadfetch, retry } from 'steadfetch';
import { record } from 'steadfetch/devtools';
import { virtualTime } from 'steadfetch/testing';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { explain, lineOf } from '../../src/devtools/explain.ts';
import { asTest } from '../../src/devtools/recording/as-test.ts';
import { readRecording, writeRecording } from '../../src/devtools/recording/recording.ts';
import { endpointsSeen, stripOf, viewAt } from '../../src/devtools/view.ts';

type Plain = Record<string, unknown>;

/** The events of a recording of every kind, as JSON has them. */
let events: Plain[] = [];

beforeAll(async () => {
  const time = virtualTime(vi);
  const statuses = [503, 503, 503, 503, 503, 503, 429, 200];
  const steady = createSteadfetch({
    random: () => 0.5,
    policy: { maxRetries: Infinity },
    fetch: async () => new Response('{}', { status: statuses.shift() ?? 404 }),
  });
  const recorder = record(steady);
  const load = ({ signal }: { readonly signal: AbortSignal }): Promise<Response> =>
    steady.fetch('http://shop.test/orders/1', { signal });
  for (let run = 0; run < 3; run++) void retry(steady, load).catch(() => {});
  await time.advance(100_000);
  events = (JSON.parse(recorder.write()) as { readonly events: Plain[] }).events;
  events.push(
    { type: 'connectivity', at: 1, status: 'offline' },
    { type: 'leader:start', at: 1, origin: 'http://shop.test', endpoint: 'GET /orders/:id' },
    { type: 'outbox', at: 1, due: 1, waiting: 0, sending: 0, paused: 0, dead: 0 },
  );
  recorder.stop();
  steady.dispose();
  time.restore();
});

const write = (all: readonly unknown[]): string =>
  JSON.stringify({ format: 'steadfetch-recording', version: 1, events: all });

/** All that the panel computes of a recording. */
function showAll(text: string): void {
  const read = readRecording(text);
  const view = viewAt(read, Infinity);
  for (const event of read) {
    lineOf(event);
    if ('operation' in event) explain(event);
  }
  for (const operation of view.operations) asTest(operation);
  for (const origin of view.inspection?.origins ?? []) {
    stripOf(view, origin.origin);
    endpointsSeen(view, origin);
  }
  writeRecording(read);
}

const wrongs: readonly unknown[] = [null, 7, 'text', true, [], {}, [null], { kind: 'retry' }];

/** The value with each part of it, at any depth, replaced by each of these, or left out. */
function* damagedOf(value: unknown): Generator {
  yield* wrongs;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    const rest = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
    Reflect.deleteProperty(rest, name);
    yield rest;
    for (const wrong of damagedOf(part))
      yield Object.assign(Array.isArray(value) ? [...(value as unknown[])] : { ...value }, {
        [name]: wrong,
      });
  }
}

describe('a recording', () => {
  test('has an event of each kind that is shown', () => {
    const types = new Set(events.map(({ type }) => type));
    expect(types).toEqual(
      new Set([
        'operation:start',
        'attempt:start',
        'request:start',
        'request:end',
        'attempt:end',
        'decision',
        'pause:start',
        'pause:end',
        'operation:end',
        'inspection',
        'outage:start',
        'outage:end',
        'connectivity',
        'leader:start',
        'outbox',
      ]),
    );
  });

  test('that is whole is read whole, and written as it was', () => {
    const read = readRecording(write(events));
    expect(read).toHaveLength(events.length);
    expect(JSON.parse(writeRecording(read))).toMatchObject({ events });
  });

  test('that is damaged anywhere is shown as far as it is whole', () => {
    const seen = new Set<unknown>();
    let count = 0;
    for (const event of events) {
      if (seen.has(event['type'])) continue;
      seen.add(event['type']);
      for (const damaged of damagedOf(event)) {
        count++;
        const name = JSON.stringify(damaged);
        expect(() => showAll(write([damaged, ...events])), name).not.toThrow();
      }
    }
    expect(count).toBeGreaterThan(1000);
  });
});

test.each([
  [`http://shop.test/it's`, 'GET', 'infinite'],
  [`http://shop.test/'); pwned(); ('`, 'GET', `'; pwned(); '`],
  ['http://shop.test/`${pwned()}`', 'POST', '${pwned()}'],
  ['http://shop.test/\\', 'GET', '{"a": pwned()}'],
  ['http://shop.test/\u2028\npwned()', 'GET', '1; pwned()'],
  ['http://shop.test/', "GET'+pwned()+'", '{"headersMs":1,"__proto__":{"a":"pwned()"}}'],
])('a test that is made of %s, %s and %s runs nothing of it', (url, method, value) => {
  const hostile = events.map((event) => ({
    ...event,
    ...('url' in event && { url }),
    ...('method' in event && { method }),
    ...(event['type'] === 'decision' && {
      options: [
        { name: 'timeout', value, level: 'the call' },
        { name: `a: pwned(), b`, value: '1', level: 'the call' },
      ],
    }),
    ...('operation' in event && {
      operation: { ...(event['operation'] as Plain), queryKey: [`'); pwned(); ('`] },
    }),
  }));
  const { operations } = viewAt(readRecording(write(hostile)), Infinity);
  for (const operation of operations) {
    const code = asTest(operation);
    if (code === undefined) continue;
    const names: string[] = [];
    JSON.stringify(parseAst(code, { lang: 'ts' }), (_, node: unknown) => {
      const { type, name } = Object(node) as { readonly type?: unknown; readonly name?: unknown };
      if (type === 'Identifier') names.push(String(name));
      return typeof node === 'bigint' ? String(node) : node;
    });
    expect(names).toContain('setupServer');
    expect(names).not.toContain('pwned');
  }
});
