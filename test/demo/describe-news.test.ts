import { expect, test } from 'vitest';
import { describeNews, type Told } from '../../demo/src/outbox/describe-news.ts';

const kept: Told = {
  id: 'a',
  name: 'Heron, Pier',
  mark: 'kept',
  title: 'Kept on this device',
  detail: 'You are offline.',
};
const sending: Told = { ...kept, mark: 'sending', title: 'Sending', detail: 'Now.' };
const dead: Told = {
  ...kept,
  id: 'b',
  name: 'Swift, Pier',
  mark: 'needs-you',
  title: 'Needs your attention',
};
const delivered: Told = { ...kept, id: 'c', mark: 'delivered', title: 'Delivered' };

test('a page that was just opened tells how many are there, and nothing of what is done', () => {
  expect(describeNews(undefined, [])).toBe('');
  expect(describeNews(undefined, [delivered])).toBe('');
  expect(describeNews(undefined, [kept])).toBe('1 report is kept on this device.');
  expect(describeNews(undefined, [sending, kept, dead, delivered])).toBe(
    '2 reports are kept on this device. 1 needs your attention.',
  );
  expect(describeNews(undefined, [dead, dead])).toBe('2 need your attention.');
});

test('a report that is new, or has changed, is told of, and the others are not', () => {
  expect(describeNews([], [kept])).toBe('Heron, Pier: Kept on this device. You are offline.');
  expect(describeNews([kept, dead], [sending, dead])).toBe('Heron, Pier: Sending. Now.');
  expect(describeNews([kept], [{ ...kept, detail: 'Soon.' }, dead])).toBe(
    'Heron, Pier: Kept on this device. Soon. Swift, Pier: Needs your attention. You are offline.',
  );
});

test('nothing is told twice, nor of one that has gone', () => {
  expect(describeNews([kept, dead], [{ ...kept }, { ...dead }])).toBe('');
  expect(describeNews([kept, dead], [dead])).toBe('');
});
