/**
 * Whether there is a page with events. There is none on a server, in a worker or in React Native; some
 * of them have a `document` or `window` without events.
 */
export function hasPage(): boolean {
  const { document, window } = globalThis as Partial<typeof globalThis>;
  return [document, window].every((target) => typeof target?.addEventListener === 'function');
}

/**
 * Listens until the returned function is called, before the target's own listeners. Without a signal: the targets of
 * jsdom refuse that of Node, which tests with MSW have.
 */
export function listen(target: EventTarget, type: string, act: (event: Event) => void): () => void {
  target.addEventListener(type, act, true);
  return () => target.removeEventListener(type, act, true);
}

/**
 * A part of the browser; undefined where reading it alone throws. Chromium does so for a service worker in a sandboxed
 * frame, and Firefox for a database where cookies are blocked.
 */
export function ifAllowed<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/**
 * Whether a browser engine runs this code, in a page or a worker: engines refuse requests and hide answers.
 * Node, React Native and jsdom do neither.
 */
export const isEngine = (): boolean => typeof SecurityPolicyViolationEvent !== 'undefined';

/**
 * When the user did what an event tells of, by a clock that says `nowMs`. On a busy page an event waits for its turn, and
 * only its own time says what was shown by then. Events that scripts dispatch are of now.
 */
export function actedAt({ isTrusted, timeStamp }: Event, nowMs: number): number {
  return isTrusted ? nowMs - Math.max(0, performance.now() - timeStamp) : nowMs;
}

/** Makes the browser ask before the page is left while that is needed, until the returned function is called. */
export function promptBeforeUnload(isNeeded: () => boolean = () => true): () => void {
  const page = globalThis as Partial<typeof globalThis>;
  const prevent = (event: BeforeUnloadEvent): void => {
    if (!isNeeded()) return;
    event.preventDefault();
    // Chromium before 119.
    event.returnValue = true;
  };
  page.addEventListener?.('beforeunload', prevent);
  return () => page.removeEventListener?.('beforeunload', prevent);
}

/** Calls back when the device may have a network again, or a different one, until the returned function is called. */
export function watchConnection(onChange: () => void): () => void {
  const page = globalThis as Partial<typeof globalThis>;
  // The Network Information API, if available. That of Cordova, or of a test, may be without events.
  const connection = ifAllowed(
    () =>
      (globalThis.navigator as { connection?: Partial<EventTarget> & { readonly type?: string } })
        .connection,
  );
  let type = connection?.type;
  // If the connection has a type, a change of anything else is only a new estimate of the same network.
  const onEstimate = (): void => {
    const before = type;
    type = connection?.type;
    if (type === undefined || type !== before) onChange();
  };
  connection?.addEventListener?.('change', onEstimate);
  page.addEventListener?.('online', onChange);
  return () => {
    connection?.removeEventListener?.('change', onEstimate);
    page.removeEventListener?.('online', onChange);
  };
}
