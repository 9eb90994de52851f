import { act, screen } from '@testing-library/react';
import {
  ConnectionBanner,
  english,
  german,
  japanese,
  TextsProvider,
  type UiTexts,
} from 'steadfetch/ui';
import { renderToString } from 'react-dom/server';
import { afterEach, expect, test } from 'vitest';
import { createRig, setOnline } from '../core/react-query/rig.tsx';

afterEach(() => document.documentElement.removeAttribute('lang'));

/** What each function of the texts is called with. */
const samples: Readonly<Record<string, readonly (readonly (string | number | undefined)[])[]>> = {
  sentence: [['Kites']],
  attempt: [
    [2, 4],
    [2, undefined],
  ],
  tryingAgainIn: [['8 kites']],
  'time.seconds': [[1], [8]],
  'time.minutes': [[2]],
  'shortTime.seconds': [[1], [8]],
  'shortTime.minutes': [[2]],
  'connection.waiting': [[1], [2], [17]],
  'outbox.waiting': [[1], [2], [17]],
  'outbox.dead': [[1], [2], [17]],
  'outbox.entry': [['order', '12:30']],
  'form.failed': [['Order']],
  'form.pressAgain': [['Order']],
};

/** Each text by its key, and each function by its key and what it is called with. */
function allOf(texts: object, path = ''): Readonly<Record<string, string>> {
  const entries = Object.entries(texts).flatMap(([name, value]): (readonly [string, string])[] => {
    const key = path + name;
    if (typeof value === 'string') return [[key, value]];
    if (typeof value === 'object') return Object.entries(allOf(value, `${key}.`));
    const calls = samples[key];
    if (!calls) throw new Error(`${key} has no samples.`);
    return calls.map((values) => [`${key}(${values.join()})`, value(...values)]);
  });
  return Object.fromEntries(entries);
}

const { lang: _, ...inEnglish } = allOf(english);
const languages: readonly UiTexts[] = [english, german, japanese];

test.each(languages)('in $lang every text is there, and ends as in English', (texts) => {
  const { lang, ...all } = allOf(texts);
  expect(Object.keys(all)).toEqual(Object.keys(inEnglish));
  for (const [key, text] of Object.entries(all)) {
    const end = lang === 'ja' ? '。' : '.';
    expect([key, text.trim() !== '', text.endsWith(end)]).toEqual([
      key,
      true,
      inEnglish[key]?.endsWith('.'),
    ]);
  }
});

test.each(languages)('in $lang a text has what it is given', (texts) => {
  for (const [key, calls] of Object.entries(samples))
    for (const values of calls) {
      const text = allOf(texts)[`${key}(${values.join()})`] ?? '';
      const missing = values.filter((value = '') => !text.includes(`${value}`));
      expect([key, text.includes('undefined'), missing]).toEqual([key, false, []]);
    }
});

test('one is not several, where a language tells them apart', () => {
  const counted = ({ connection, outbox, time }: UiTexts): readonly string[] =>
    [1, 2].flatMap((count) => [
      time.seconds(count),
      connection.waiting(count),
      outbox.waiting(count),
      outbox.dead(count),
    ]);
  expect(languages.map(counted)).toEqual([
    [
      '1 second',
      '1 request is waiting.',
      '1 to send',
      '1 needs your attention',
      '2 seconds',
      '2 requests are waiting.',
      '2 to send',
      '2 need your attention',
    ],
    [
      '1 Sekunde',
      '1 Anfrage wartet.',
      '1 zu senden',
      '1 Eintrag zu prüfen',
      '2 Sekunden',
      '2 Anfragen warten.',
      '2 zu senden',
      '2 Einträge zu prüfen',
    ],
    [
      '1秒',
      '1件のリクエストが待機中です。',
      '未送信 1件',
      '要確認 1件',
      '2秒',
      '2件のリクエストが待機中です。',
      '未送信 2件',
      '要確認 2件',
    ],
  ]);
});

test('nothing is left in English', () => {
  const same = (texts: UiTexts): readonly string[] => {
    const all = allOf(texts);
    return Object.keys(inEnglish).filter((key) => all[key] === inEnglish[key]);
  };
  // A full stop, and what an app has named.
  expect(same(german)).toEqual(['sentence(Kites)', 'outbox.entry(order,12:30)']);
  expect(same(japanese)).toEqual([]);
});

test.each([
  ['de', 'Sie sind offline'],
  ['de-CH', 'Sie sind offline'],
  ['JA', 'オフラインです'],
  ['ja-JP', 'オフラインです'],
  ['en-GB', 'You are offline'],
  ['', 'You are offline'],
])('a page whose lang is "%s" says "%s"', (lang, expected) => {
  document.documentElement.lang = lang;
  const rig = createRig();
  rig.show(
    <TextsProvider texts={languages}>
      <ConnectionBanner />
    </TextsProvider>,
  );
  act(() => setOnline(false));
  expect(screen.getByText(expected)).toBeTruthy();
  act(() => setOnline(true));
});

test.each(['pt_BR', ''])('texts whose lang is "%s" say that it is not a language tag', (lang) => {
  const texts = [{ ...english, lang }];
  expect(() => renderToString(<TextsProvider texts={texts}>{null}</TextsProvider>)).toThrow(
    new TypeError(
      `TextsProvider: the lang "${lang}" of texts is not a language tag (BCP 47), such as "pt-BR".`,
    ),
  );
});
