/** Whether a tab is seen. `away`: frozen, or left and kept for the way back; it must hold nothing. */
export type TabLife = 'visible' | 'hidden' | 'away';

/** An open line to the other tabs. */
export interface ShareChannel {
  readonly post: (message: unknown) => void;
  readonly close: () => void;
}

/** What joins the tabs of one browser: BroadcastChannel, Web Locks and the page's life, or a test's own. */
export interface SharePorts {
  /** Opens the line: `receive` gets what the other tabs post, and nothing of its own. */
  readonly open: (receive: (message: unknown) => void) => ShareChannel;
  /**
   * Asks for the lock of this name, which one tab at a time has. `granted` is called later, never
   * before this has returned. The function that it returns gives the lock back, or stops asking.
   */
  readonly lock: (name: string, granted: () => void) => () => void;
  /** Calls the listener at once, and whenever it changes, until the returned function is called. */
  readonly watch: (listener: (life: TabLife) => void) => () => void;
}
