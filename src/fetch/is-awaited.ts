import { isForeground } from '../origin/wait-queue.ts';
import type { Priority } from '../policy/options.ts';
import type { LiveOperation } from './live-operation.ts';

const always = (): boolean => true;
/** Where nothing tells whether a user waits: in a page that is seen, one does. */
const isPageSeen = (): boolean => globalThis.document?.visibilityState !== 'hidden';

/** Tells at any time whether a user waits for it in a visible page. */
export function whetherAwaited(live: LiveOperation): () => boolean {
  // A mutation is what a user has pressed for, whatever they look at meanwhile.
  return live.isForeground ?? (live.ref.kind === 'mutation' ? always : isPageSeen);
}

/** The same now, unless `priority` says otherwise. */
export function isAwaited(live: LiveOperation, priority: Priority): boolean {
  return isForeground({ ask: { priority, isForeground: whetherAwaited(live) } });
}
