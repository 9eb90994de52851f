// The mocked API knows no cookies. The package whose place this takes brings a list of all domains
// under which anybody can register, a hundred kilobytes of script.

/** A jar that stays empty. */
export class CookieJar {
  getCookiesSync(): [] {
    return [];
  }

  async setCookie(): Promise<void> {}
}

export class MemoryCookieStore {
  idx = {};
}

export const Cookie = { fromJSON: (): null => null };
