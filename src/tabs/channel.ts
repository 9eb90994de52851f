import type { TabLife } from './page-state.ts';

/** An open line to the other tabs. */
export interface ShareChannel {
  readonly post: (message: unknown) => void;
  readonly close: () => void;
}

/** What joins the tabs of one browser: BroadcastChannel and the page's life, or a test's own. */
export interface SharePorts {
  /**
   * Opens the line of this name: `receive` gets what the other tabs post, and nothing of its own.
   * Undefined where there is none: then each tab works alone, and looks for itself.
   */
  readonly open: (name: string, receive: (message: unknown) => void) => ShareChannel | undefined;
  /** Calls the listener at once, and whenever it may have changed, until the returned function is called. */
  readonly watch: (listener: (life: TabLife) => void) => () => void;
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
