/** Whether a tab is seen. `away`: frozen, or left and kept for the way back; it must hold nothing. */
export type TabLife = 'visible' | 'hidden' | 'away';

/** Calls the listener with the state of this page, now and at each change, until the returned function is called. */
export function watchPageState(listener: (life: TabLife) => void): () => void {
  let isAway = false;
  const stop = new AbortController();
  const { signal } = stop;
  const update = ({ type }: { readonly type: string }): void => {
    isAway = /pagehide|freeze/.test(type) || (isAway && type === 'visibilitychange');
    listener(isAway ? 'away' : document.visibilityState);
  };
  for (const type of ['visibilitychange', 'freeze', 'resume', 'pagehide', 'pageshow'])
    addEventListener(type, update, { capture: true, signal });
  update({ type: '' });
  return () => stop.abort();
}
