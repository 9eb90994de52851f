import type { OutboxEntry } from 'steadfetch/outbox';
import { describe, expect, test } from 'vitest';
import { describeItem } from '../../demo/src/outbox/describe-item.ts';
import type { FlightReport } from '../../demo/src/reports/report.ts';

type Entry = OutboxEntry<FlightReport>;

const entry: Entry = {
  idempotencyKey: 'a',
  handler: 'flightReport',
  variables: undefined,
  scope: 'flight-log',
  state: 'pending',
  createdAt: 0,
  attempts: 0,
  lastAttemptAt: undefined,
  nextRetryAt: 0,
  lastError: undefined,
  processed: 'no',
  waitsFor: undefined,
  reason: undefined,
  pause: undefined,
  data: undefined,
  isDurable: true,
};

/** What is shown of an entry that differs from a new one by this. */
const shown = (change: Partial<Entry>, isOffline = false): string => {
  const { mark, title, detail } = describeItem({ entry: { ...entry, ...change } }, isOffline);
  return `${mark}: ${title}. ${detail}`;
};

const failed = (status: number): Partial<Entry> => ({
  attempts: 1,
  lastError: { name: 'HttpError', message: '', status },
});

test.each<[does: string, change: Partial<Entry>, shown: string]>([
  ['is due', {}, 'It is sent in a moment.'],
  ['waits behind another', { nextRetryAt: undefined }, 'It is sent after the report before it.'],
  ['met an overload', failed(503), 'The shop is overloaded (503). It is sent again by itself.'],
  ['was refused for now', failed(429), 'The shop refused (429). It is sent again by itself.'],
  [
    'got no answer in time',
    { lastError: { name: 'TimeoutError', message: '' } },
    'No answer in time. It is sent again by itself.',
  ],
  [
    'lost its answer',
    { lastError: { name: 'NetworkError', message: '' } },
    'The connection broke. It is sent again by itself.',
  ],
])('one that %s is kept, and says so', (_, change, detail) => {
  expect(shown(change)).toBe(`kept: Kept on this device. ${detail}`);
});

test.each([
  ['offline', 'You are offline. It is sent when you are back online.'],
  ['server-down', 'The shop is down. It is sent when the shop is back.'],
  ['rate-limited', 'The shop asks for a pause. It is sent afterwards.'],
  ['queued', 'It is sent when its turn comes.'],
] as const)('one that is paused before it is sent, %s, is still kept', (reason, detail) => {
  const pause = { reason, retryAt: undefined };
  expect(shown({ state: 'paused', attempts: 1, pause })).toBe(
    `kept: Kept on this device. ${detail}`,
  );
});

test('offline, whatever came before, it waits for the device', () => {
  expect(shown(failed(503), true)).toBe(
    'kept: Kept on this device. You are offline. It is sent when you are back online.',
  );
});

test('where there is no disk, it says that the page must stay', () => {
  expect(shown({ isDurable: false })).toBe('kept: Kept in this page only. It is sent in a moment.');
});

test('one that is on its way says which attempt it is', () => {
  expect(shown({ state: 'sending', attempts: 1 })).toBe(
    'sending: Sending. The request is on its way.',
  );
  expect(shown({ state: 'sending', attempts: 3 })).toBe(
    'sending: Sending. Attempt 3, with the same key.',
  );
});

describe('one that needs a user says why', () => {
  test('in the words of the shop, where it was refused', () => {
    const lastError = { name: 'HttpError', message: 'Say more.', status: 422 };
    expect(shown({ state: 'dead', reason: 'refused', lastError })).toBe(
      'needs-you: Needs your attention. The shop refused it (422): Say more.',
    );
  });

  test('and what that means, otherwise', () => {
    expect(shown({ state: 'dead', reason: 'expired' })).toBe(
      'needs-you: Needs your attention. The shop may have it already, and it is too old to be sent again.',
    );
  });
});

test('one that is done, or no longer in the outbox, is delivered', () => {
  expect(shown({ state: 'done' })).toBe('delivered: Delivered. The shop has it.');
  expect(describeItem({ entry: undefined }, true).mark).toBe('delivered');
});
