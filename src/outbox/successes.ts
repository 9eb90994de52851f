import type { Emitter } from '../fetch/events.ts';
import { toUrl } from '../fetch/request-parts.ts';
import type { Clock } from '../lib/clock.ts';

/** The other tabs are told no more often of one origin. */
const gapMs = 2000;

/**
 * Tells of the requests of this instance that go well, whoever has made them: what the outbox has put
 * off for their origin need not wait any longer. `onSuccess` is told of each, `onNews` now and then.
 * @returns what ends it.
 */
export function watchSuccesses(
  emitter: Emitter,
  clock: Clock,
  onSuccess: (origin: string) => void,
  onNews: (origin: string) => void,
): () => void {
  const toldAt = new Map<string, number>();
  return emitter.subscribe((event) => {
    if (event.type !== 'request:end' || event.outcome.kind !== 'ok') return;
    const origin = toUrl(event.url)?.origin;
    if (origin === undefined) return;
    onSuccess(origin);
    const agoMs = clock.now() - (toldAt.get(origin) ?? -Infinity);
    // Also where the clock was set back.
    if (agoMs >= 0 && agoMs < gapMs) return;
    toldAt.set(origin, clock.now());
    onNews(origin);
  });
}
