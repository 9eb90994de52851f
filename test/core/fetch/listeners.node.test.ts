import { createSteadfetch, type SteadfetchEvent, retry } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { answer, fakeServer, origin, refuse } from './fake-server.ts';
import { fakeTime, observe } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;

const types = (listener: { mock: { calls: [SteadfetchEvent][] } }): string[] =>
  listener.mock.calls.map(([event]) => event.type);

test('it hears every event until it is unsubscribed, also twice', async () => {
  const steady = createSteadfetch({ fetch: fakeServer(answer()).fetch });
  const listener = vi.fn<(event: SteadfetchEvent) => void>();
  const unsubscribe = steady.subscribe(listener);
  await steady.fetch(url);
  unsubscribe();
  unsubscribe();
  await steady.fetch(url);
  expect(types(listener)).toEqual(['request:start', 'request:end']);
});

test('a listener that unsubscribes in an event takes no other with it', async () => {
  const steady = createSteadfetch({ fetch: fakeServer(answer()).fetch });
  const first = vi.fn<(event: SteadfetchEvent) => void>(() => unsubscribe());
  const second = vi.fn<(event: SteadfetchEvent) => void>();
  const unsubscribe = steady.subscribe(first);
  steady.subscribe(second);
  await steady.fetch(url);
  expect(types(first)).toEqual(['request:start']);
  expect(types(second)).toEqual(['request:start', 'request:end']);
});

test('instances do not hear each other', async () => {
  const listener = vi.fn<(event: SteadfetchEvent) => void>();
  createSteadfetch().subscribe(listener);
  await createSteadfetch({ fetch: fakeServer(answer()).fetch }).fetch(url);
  expect(listener).not.toHaveBeenCalled();
});

test('a listener that throws disturbs nothing, and its error is reported', async () => {
  const report = vi.fn<(error: unknown) => void>();
  vi.stubGlobal('reportError', report);
  const server = fakeServer(refuse, answer(200, 'content'));
  const steady = createSteadfetch({ fetch: server.fetch });
  const mistake = new Error('a mistake of the listener');
  steady.subscribe(() => {
    throw mistake;
  });
  const listener = vi.fn<(event: SteadfetchEvent) => void>();
  steady.subscribe(listener);
  const result = observe(
    retry(steady, async (context) => (await steady.fetch(url, context)).text()),
  );
  await vi.runAllTimersAsync();
  await new Promise((resolve) => void setImmediate(resolve));
  expect(result.value).toBe('content');
  expect(types(listener)).toEqual([
    'operation:start',
    'attempt:start',
    'request:start',
    'request:end',
    'attempt:end',
    'decision',
    'attempt:start',
    'request:start',
    'request:end',
    'attempt:end',
    'operation:end',
  ]);
  expect(report.mock.calls).toEqual(Array.from({ length: 11 }, () => [mistake]));
  vi.unstubAllGlobals();
});
