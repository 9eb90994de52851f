import { createSteadfetch, retry, watchConnectivity } from 'steadfetch';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { fakeTime, observe } from '../fetch/observe.ts';

const origin = 'http://localhost:3000';
const warn = vi.spyOn(console, 'warn');

beforeEach(() => {
  fakeTime();
  warn.mockReset().mockReturnValue();
});

/** A session has expired: every request is rejected, and the check is answered by this origin. */
function create(checked: string) {
  const sent: string[] = [];
  const steady = createSteadfetch({
    random: () => 0.5,
    connectivity: watchConnectivity({ check: checked }),
    async fetch(input) {
      const url = input as string;
      sent.push(url);
      if (url === `${origin}/neighbour` || url === checked) return new Response('{}');
      throw new TypeError('Failed to fetch');
    },
  });
  onTestFinished(() => steady.dispose());
  const send = (path: string) =>
    observe(retry(steady, ({ signal }) => steady.fetch(`${origin}${path}`, { signal })));
  const count = (path: string): number => sent.filter((url) => url === origin + path).length;
  return { send, count };
}

test('an origin that answers the check is not down: the user sees the error after maxRetries', async () => {
  const { send, count } = create(`${origin}/ping`);
  const query = send('/items');
  // By this chance, the waits are half of 1, 2 and 4 s.
  await vi.advanceTimersByTimeAsync(3499);
  expect([query.state, count('/items')]).toEqual(['pending', 3]);
  await vi.advanceTimersByTimeAsync(1);
  expect(query).toMatchObject({
    state: 'rejected',
    error: {
      code: 'network',
      message:
        'The server answers, but its answer may not be read: the login may have expired, a browser extension may block it, or its CORS headers are missing.',
      outcome: { kind: 'network', processed: 'unknown' },
    },
  });
  expect(count('/items')).toBe(4);
  const neighbour = send('/neighbour');
  await vi.advanceTimersByTimeAsync(0);
  expect(neighbour.state).toBe('resolved');
  const said = warn.mock.calls.map((call) => call.join(' '));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(`${origin} answers, but this page may not read its answers.`);
});

test('after a minute it is found out anew', async () => {
  const { send, count } = create(`${origin}/ping`);
  send('/items');
  await vi.advanceTimersByTimeAsync(70_000);
  const query = send('/items');
  await vi.advanceTimersByTimeAsync(3500);
  expect([query.state, count('/items')]).toEqual(['rejected', 8]);
});

test('a check that another origin answers says nothing of this one', async () => {
  const { send } = create('https://other.example/ping');
  const query = send('/items');
  await vi.advanceTimersByTimeAsync(59_000);
  expect(query.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(6000);
  expect(query).toMatchObject({
    state: 'rejected',
    error: { code: 'network', decision: { reason: 'paused-too-long' } },
  });
});
