import { requestLock } from '../tabs/lock.ts';
import { openChannel } from '../tabs/channel.ts';
import type { TabPorts } from './tab-ports.ts';

const looks = ['visibilitychange', 'resume', 'pageshow', 'freeze', 'pagehide', 'online'];

/** Those of this environment; what it has not, it does without. */
export function browserPorts(): TabPorts {
  const { document, navigator, addEventListener, removeEventListener } = globalThis as Partial<
    typeof globalThis
  >;
  const locks = navigator?.locks;

  return {
    open: openChannel,
    lock: locks && ((name, granted) => requestLock(locks, name, granted)),
    watch(listener) {
      if (!document || !addEventListener || !removeEventListener) return () => {};
      let isAway = false;
      const look = ({ type }: Event): void => {
        isAway = /pagehide|freeze/.test(type) || (isAway && type === 'visibilitychange');
        listener(isAway ? 'away' : document.visibilityState === 'hidden' ? 'hidden' : 'here');
      };
      for (const type of looks) addEventListener(type, look, true);
      return () => {
        for (const type of looks) removeEventListener(type, look, true);
      };
    },
  };
}
