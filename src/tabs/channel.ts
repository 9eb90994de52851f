import { type TabLife, watchPageState } from './page-state.ts';

/** An open line to the other tabs. */
export interface ShareChannel {
  readonly post: (message: unknown) => void;
  readonly close: () => void;
}

/** What joins the tabs of one browser: BroadcastChannel and the page's life, or a test's own. */
export interface SharePorts {
  /**
   * Opens the line: `receive` gets what the other tabs post, and nothing of its own. Undefined where
   * there is none.
   */
  readonly open: (receive: (message: unknown) => void) => ShareChannel | undefined;
  /** Calls the listener at once, and whenever it changes, until the returned function is called. */
  readonly watch: (listener: (life: TabLife) => void) => () => void;
}

/** The lines between the tabs of this browser, `undefined` where there are none. */
export function browserPorts(hasPage: boolean): SharePorts | undefined {
  if (!hasPage) return undefined;
  return { open: (receive) => openChannel('steadfetch', receive), watch: watchPageState };
}

/** A line of this name; none where the browser has none, or refuses it: in a frame without storage. */
export function openChannel(
  name: string,
  receive: (message: unknown) => void,
): ShareChannel | undefined {
  try {
    const channel = new BroadcastChannel(name);
    channel.addEventListener('message', ({ data }) => receive(data));
    return { post: channel.postMessage.bind(channel), close: channel.close.bind(channel) };
  } catch {
    return undefined;
  }
}
