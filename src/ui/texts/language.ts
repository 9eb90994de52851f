/** A language tag in its canonical form (BCP 47); undefined for anything else. Pages often have "en_GB". */
function localeOf(lang: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(lang.trim().replaceAll('_', '-'));
  } catch {
    return undefined;
  }
}

/** A tag without extensions, and what is left of it from subtag to subtag. */
function* shorten(tag: string): Generator<string> {
  for (let left = tag; left; left = left.slice(0, Math.max(0, left.lastIndexOf('-')))) yield left;
}

/**
 * The one for a language: by lookup (RFC 4647 §3.4), with the tag, and with the script and the region that it has
 * without saying so (`zh-TW` is written in `zh-Hant`); else one for a part of those who speak it (`pt-BR` for `pt`).
 * Undefined where there is none, or where the language is unknown.
 */
export function lookUp<T extends { readonly lang: string }>(
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
