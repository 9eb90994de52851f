/** `hidden`: it may be gone soon. `away`: frozen, or left and kept for the way back; it can hold nothing. */
type PageState = 'here' | 'hidden' | 'away';

/** What joins the tabs of one browser: BroadcastChannel, Web Locks and the page's life, or a test's own. */
export interface TabPorts {
  /**
   * Opens the line: `receive` gets what the other tabs post, and nothing of its own. Undefined where
   * there is none: then each tab looks for itself, every 5 s.
   */
  readonly open: (
    name: string,
    receive: (message: unknown) => void,
  ) => { readonly post: (message: unknown) => void; readonly close: () => void } | undefined;
  /**
   * Asks for the lock of this name, which one tab at a time has; undefined where there are none.
   * `granted` is called later, never before this has returned. The function that it returns gives the
   * lock back, or stops asking.
   */
  readonly lock: ((name: string, granted: () => void) => () => void) | undefined;
  /** Calls the listener when it changes, and whenever somebody looks, until it is stopped. */
  readonly watch: (listener: (state: PageState) => void) => () => void;
}
