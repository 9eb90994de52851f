import {
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react';
import { english } from './english.ts';
import { findTexts, watchPageLanguage } from './language.ts';
import type { UiTexts } from './ui-texts.ts';
import { inDevelopment } from '../../core/lib/development.ts';
import { reject } from '../../core/lib/input/check.ts';

const Texts = createContext<readonly UiTexts[]>([english]);

/** The props of {@link TextsProvider}. */
export interface TextsProviderProps {
  /** Texts in one or several languages. The page's language is used (RFC 4647), or else the first. */
  readonly texts: readonly UiTexts[];
  readonly children: ReactNode;
}

/**
 * Provides texts to all components below: those for the page's language (`<html lang>`, which is watched), or
 * else the first. Their `lang` is found by lookup (RFC 4647): `de` serves a page in `de-CH`, and `zh-Hans` none
 * in `zh-Hant`. Without a provider, components use English.
 *
 * @throws TypeError in development, if `texts` is no list, or a `lang` is not a language tag (BCP 47).
 *
 * @example
 * ```tsx
 * import type { ReactNode } from 'react';
 * import { english, german, japanese, TextsProvider } from 'steadfetch/ui';
 *
 * const texts = [{ ...english, retryNow: 'Once more' }, german, japanese];
 *
 * export const App = ({ children }: { children: ReactNode }) => (
 *   <TextsProvider texts={texts}>{children}</TextsProvider>
 * );
 * ```
 */
export function TextsProvider({ texts, children }: TextsProviderProps): ReactElement {
  inDevelopment(() => {
    if (!Array.isArray(texts) || texts.length === 0)
      reject('TextsProvider', 'texts', texts, 'a list, such as [english, german]');
    for (const [at, one] of texts.entries()) {
      checkTexts(`texts[${at}]`, one, english);
      checkLanguage(one.lang);
    }
  });
  return <Texts.Provider value={texts}>{children}</Texts.Provider>;
}

/** @throws TypeError for a text that is missing: a component that shows it would throw, and the app with it. */
function checkTexts(path: string, given: unknown, needed: unknown): void {
  if (typeof given !== typeof needed || given === null)
    reject(
      'TextsProvider',
      path,
      given,
      `of the type ${typeof needed}: write { ...english, lang, … }`,
    );
  if (typeof needed !== 'object') return;
  for (const [name, part] of Object.entries(needed as object))
    checkTexts(`${path}.${name}`, (given as Readonly<Record<string, unknown>>)[name], part);
}

function checkLanguage(lang: string): void {
  try {
    Intl.getCanonicalLocales(lang);
  } catch {
    throw new TypeError(
      `TextsProvider: the lang ${JSON.stringify(lang)} of texts is not a language tag (BCP 47), such as "pt-BR".`,
    );
  }
}

const pageLanguage = (): string => document.documentElement.lang;

/** The texts for the page's language. On a server, which does not know it, the first. */
export function useTexts(): UiTexts {
  const given = useContext(Texts);
  const lang = useSyncExternalStore(watchPageLanguage, pageLanguage, () => '');
  return useMemo(() => findTexts(given, lang) ?? given[0] ?? english, [given, lang]);
}
