import {
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useMemo,
  useSyncExternalStore,
} from 'react';
import { english } from './english.ts';
import { lookUp, watchPageLanguage } from './language.ts';
import type { UiTexts } from './ui-texts.ts';

const Texts = createContext<readonly UiTexts[]>([english]);

/** Which texts the components have. */
export interface TextsProviderProps {
  /** Texts of one or several languages: those for the language of the page (RFC 4647), or else the first. */
  readonly texts: readonly UiTexts[];
  readonly children: ReactNode;
}

/**
 * Gives all components below these texts: those for the language of the page (`<html lang>`, which is watched), or
 * else the first. Their `lang` is found by lookup (RFC 4647): `de` serves a page in `de-CH`, and `zh-Hans` none in
 * `zh-Hant`. Without it, the components have English texts.
 *
 * @throws TypeError in development, where a `lang` is no language tag (BCP 47).
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
  if (process.env.NODE_ENV !== 'production') for (const { lang } of texts) checkLanguage(lang);
  return <Texts.Provider value={texts}>{children}</Texts.Provider>;
}

function checkLanguage(lang: string): void {
  try {
    Intl.getCanonicalLocales(lang);
  } catch {
    throw new TypeError(
      `TextsProvider: the lang ${JSON.stringify(lang)} of texts is no language tag. Write it as "pt-BR".`,
    );
  }
}

const pageLanguage = (): string => document.documentElement.lang;

/** Those of the language of the page; the first on a server, which does not know it. */
export function useTexts(): UiTexts {
  const given = useContext(Texts);
  const lang = useSyncExternalStore(watchPageLanguage, pageLanguage, () => '');
  return useMemo(() => lookUp(given, lang) ?? given[0] ?? english, [given, lang]);
}
