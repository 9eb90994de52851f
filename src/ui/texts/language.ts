/** A language tag in its canonical form (BCP 47); undefined for anything else. Pages often have "en_GB". */
function localeOf(lang: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(lang.trim().replaceAll('_', '-'));
  } catch {
    return undefined;
  }
}

/** A tag without extensions, and its shorter forms, subtag by subtag. */
function* shorten(tag: string): Generator<string> {
  for (let left = tag; left; left = left.slice(0, Math.max(0, left.lastIndexOf('-')))) yield left;
}

/**
 * The texts for a language, by lookup (RFC 4647 §3.4): with the tag, then with its implied script and region
 * (`zh-TW` implies `zh-Hant`), then for a regional variant (`pt-BR` for `pt`). Undefined if there are none,
 * or if the language is unknown.
 */
export function findTexts<T extends { readonly lang: string }>(
  all: readonly T[],
  lang: string,
): T | undefined {
  const wanted = localeOf(lang);
  if (!wanted || wanted.baseName.startsWith('und')) return undefined;
  const tags = all.map((one) => localeOf(one.lang)?.baseName);
  for (const range of [wanted.baseName, wanted.maximize().baseName])
    for (const tag of shorten(range)) {
      const found = all[tags.indexOf(tag)];
      if (found) return found;
    }
  return all.find((_, at) => tags[at]?.startsWith(`${wanted.baseName}-`));
}

const listeners = new Set<() => void>();
let observer: MutationObserver | undefined;

/** Calls the listener when `<html lang>` changes. One observer serves all, and ends with the last. */
export function watchPageLanguage(listener: () => void): () => void {
  listeners.add(listener);
  if (!observer) {
    observer = new MutationObserver(() => {
      for (const one of listeners) one();
    });
    observer.observe(document.documentElement, { attributeFilter: ['lang'] });
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    observer?.disconnect();
    observer = undefined;
  };
}
