import { type TabLife, watchPageState } from './page-state.ts';

/** An open line to the other tabs. */
export interface ShareChannel {
  readonly post: (message: unknown) => void;
  readonly close: () => void;
}

/** What joins the tabs of one browser: BroadcastChannel and the page's life, or a test's own. */
export interface SharePorts {
  /** Opens the line: `receive` gets what the other tabs post, and nothing of its own. */
  readonly open: (receive: (message: unknown) => void) => ShareChannel;
  /** Calls the listener at once, and whenever it changes, until the returned function is called. */
  readonly watch: (listener: (life: TabLife) => void) => () => void;
}

/** The line between the tabs of this browser, `undefined` where there is no BroadcastChannel. */
export function browserPorts(hasPage: boolean): SharePorts | undefined {
  const { BroadcastChannel } = globalThis as Partial<typeof globalThis>;
  if (!hasPage || !BroadcastChannel) return undefined;
  return {
    open(receive) {
      const channel = new BroadcastChannel('steadfetch');
      channel.addEventListener('message', ({ data }) => receive(data));
      return {
        post: channel.postMessage.bind(channel),
        close: channel.close.bind(channel),
      };
    },
    watch: watchPageState,
  };
}
