/** axios's headers: an AxiosHeaders object from 1.0 on, and a plain object before. */
export type AxiosHeaderBag = Readonly<Record<string, unknown>> & {
  readonly set?: (name: string, value: string) => unknown;
};

/** Converts them to Headers. Only strings, numbers and `true` are sent, as in axios. */
export function listHeaders(bag: AxiosHeaderBag | undefined): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(bag ?? {})) {
    const isSent = typeof value === 'string' || typeof value === 'number' || value === true;
    for (const one of isSent ? [value] : Array.isArray(value) ? (value as unknown[]) : []) {
      try {
        headers.append(name, String(one));
      } catch {
        // An invalid name or value: axios reports or omits it.
      }
    }
  }
  return headers;
}

/** Copies axios's headers, with the changes from `before` to `now`. */
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
