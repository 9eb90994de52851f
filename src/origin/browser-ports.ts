import { hasPage } from './has-page.ts';
import type { SharePorts } from './share-ports.ts';
import { requestLock } from './web-lock.ts';

/**
 * What joins the tabs of this browser; undefined where it has no Web Locks (an insecure context),
 * no BroadcastChannel or no page (a server, a worker): there a tab works alone.
 */
export function browserPorts(): SharePorts | undefined {
  const { BroadcastChannel, navigator } = globalThis as Partial<typeof globalThis>;
  const locks = navigator?.locks;
  if (!hasPage() || !BroadcastChannel || !locks) return undefined;

  return {
    open(receive) {
      const channel = new BroadcastChannel('steadfetch');
      channel.addEventListener('message', ({ data }) => receive(data));
      return {
        post: channel.postMessage.bind(channel),
        close: channel.close.bind(channel),
      };
    },
    lock: (name, granted) => requestLock(locks, name, granted),
    watch(listener) {
      let isAway = false;
      const stop = new AbortController();
      const { signal } = stop;
      const look = ({ type }: { readonly type: string }): void => {
        isAway = /pagehide|freeze/.test(type) || (isAway && type === 'visibilitychange');
        listener(isAway ? 'away' : document.visibilityState);
      };
      for (const type of ['visibilitychange', 'freeze', 'resume', 'pagehide', 'pageshow'])
        addEventListener(type, look, { capture: true, signal });
      look({ type: '' });
      return () => stop.abort();
    },
  };
}
