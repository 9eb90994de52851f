import { act, render, screen } from '@testing-library/react';
import { renderToString } from 'react-dom/server';
import { afterEach, expect, test, vi } from 'vitest';
import { english, german, TextsProvider, type UiTexts } from '../../../src/ui.ts';
import { findTexts } from '../../../src/ui/texts/language.ts';
import { useTexts } from '../../../src/ui/texts/texts.tsx';

afterEach(() => {
  document.documentElement.removeAttribute('lang');
  vi.restoreAllMocks();
});

/** `found` is undefined where the first is taken. */
test.each<readonly [page: string, tags: string, found: string | undefined]>([
  // RFC 4647 §3.4: the range is shortened from its end.
  ['en', 'en de', 'en'],
  ['en-GB', 'de en', 'en'],
  ['en-GB', 'en en-GB', 'en-GB'],
  ['pt-BR', 'de pt', 'pt'],
  ['pt-BR', 'pt-PT en', undefined],
  ['zh-Hant', 'en zh-Hans', undefined],
  ['zh-Hans', 'en zh-Hant', undefined],
  ['zh-Hant-TW', 'zh-Hans zh-Hant', 'zh-Hant'],
  ['zh-Hant-CN-x-private1-private2', 'en zh-Hant', 'zh-Hant'],
  ['sr-Latn', 'sr-Cyrl en', undefined],
  ['de-CH-1996', 'de-CH de', 'de-CH'],
  ['de-u-co-phonebk', 'en de', 'de'],
  ['sl-rozaj-biske', 'en sl', 'sl'],
  // The script that a region has without saying so.
  ['zh-TW', 'zh-Hans zh-Hant', 'zh-Hant'],
  ['zh-HK', 'en zh-Hant', 'zh-Hant'],
  ['zh-SG', 'zh-Hant zh-Hans', 'zh-Hans'],
  ['zh', 'zh-Hant zh-Hans', 'zh-Hans'],
  // For a part of those who speak it.
  ['pt', 'en pt-BR', 'pt-BR'],
  ['en', 'de en-GB', 'en-GB'],
  // Of other languages that begin alike.
  ['fil', 'fi en', undefined],
  ['gsw', 'gs en', undefined],
  ['fi', 'fil en', undefined],
  // As they are written.
  ['EN-gb', 'de en-GB', 'en-GB'],
  ['en_GB', 'de en-GB', 'en-GB'],
  [' de ', 'en de', 'de'],
  ['iw', 'en he', 'he'],
  // No language.
  ['', 'de en', undefined],
  ['x-private', 'de en', undefined],
  ['x', 'de en', undefined],
  ['i-klingon', 'de en', undefined],
  ['not a language', 'de en', undefined],
  ['und', 'de-und en', undefined],
  ['*', 'de en', undefined],
])('a page in "%s" with texts in %s has those in %s', (page, tags, found) => {
  const all = tags.split(' ').map((lang) => ({ lang }));
  expect(findTexts(all, page)?.lang).toBe(found);
});

const languages: readonly UiTexts[] = [english, german];
const Label = () => <p>{useTexts().retryNow}</p>;
const tree = (
  <TextsProvider texts={languages}>
    <Label />
    <Label />
  </TextsProvider>
);
const shown = (): (string | null)[] =>
  screen.getAllByRole('paragraph').map(({ textContent }) => textContent);

test('a change of <html lang> is seen by every component', async () => {
  render(tree);
  expect(shown()).toEqual(['Retry now', 'Retry now']);
  // An observer of mutations is called in a microtask.
  await act(() => {
    document.documentElement.lang = 'de-AT';
    return Promise.resolve();
  });
  expect(shown()).toEqual([german.retryNow, german.retryNow]);
  await act(() => {
    document.documentElement.removeAttribute('lang');
    return Promise.resolve();
  });
  expect(shown()).toEqual(['Retry now', 'Retry now']);
});

test('one observer serves all components, and ends with the last', () => {
  const observe = vi.spyOn(MutationObserver.prototype, 'observe');
  const disconnect = vi.spyOn(MutationObserver.prototype, 'disconnect');
  const first = render(tree);
  const second = render(tree);
  const ofLang = (): number =>
    observe.mock.calls.filter(([, options]) => options?.attributeFilter?.includes('lang')).length;
  expect(ofLang()).toBe(1);
  first.unmount();
  expect(disconnect).not.toHaveBeenCalled();
  second.unmount();
  expect(disconnect).toHaveBeenCalledTimes(1);
  render(tree).unmount();
  expect(ofLang()).toBe(2);
});

test('on a server, which does not know the language of the page, it is the first', () => {
  document.documentElement.lang = 'de';
  expect(renderToString(tree)).toBe('<p>Retry now</p><p>Retry now</p>');
});
