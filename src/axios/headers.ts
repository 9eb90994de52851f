/** Headers as axios has them: an object of its own from 1.0 on, and a plain one before. */
export type AxiosHeaderBag = Readonly<Record<string, unknown>> & {
  readonly set?: (name: string, value: string) => unknown;
};

/** The same as fetch has them. A value that is no text, number or yes is none, as for axios. */
export function listHeaders(bag: AxiosHeaderBag | undefined): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(bag ?? {})) {
    const isSent = typeof value === 'string' || typeof value === 'number' || value === true;
    for (const one of isSent ? [value] : Array.isArray(value) ? (value as unknown[]) : []) {
      try {
        headers.append(name, String(one));
      } catch {
        // A name or a value that no header can have: axios says so, or leaves it out.
      }
    }
  }
  return headers;
}

/** A copy of axios' headers, in which what has changed since is as it is now. */
export function changeHeaders(
  bag: AxiosHeaderBag | undefined,
  before: Headers,
  now: Headers,
): { readonly bag: AxiosHeaderBag; readonly set: (name: string, value: string) => void } {
  const copy = Object.assign(
    Object.create(Object.getPrototypeOf(bag ?? {}) as object | null) as Record<string, unknown>,
    bag,
  );
  const set = (name: string, value: string): void => {
    if (typeof copy.set === 'function') copy.set(name, value);
    else {
      for (const known of Object.keys(copy))
        if (known.toLowerCase() === name) Reflect.deleteProperty(copy, known);
      Reflect.set(copy, name, value);
    }
  };
  for (const [name, value] of now) if (before.get(name) !== value) set(name, value);
  return { bag: copy, set };
}
