import type { OutboxEntry } from 'steadfetch/outbox';
import type { Server } from '../api/server.ts';
import type { Recorder } from './recorder.ts';
import { current, endLane, endRequest, type Lane, openSpan, pause } from './recording.ts';

/** The requests of an outbox, as its server sees them: the line of an entry is that of its key. */
export function watchOutbox(recorder: Recorder, server: Server): void {
  const ids = new Map<number, string>();
  server.subscribe(({ id: request, key, label, isOk }) => {
    if (label === undefined) {
      ids.set(request, key);
      recorder.begin('steady', key);
      recorder.change('steady', key, (lane, at) =>
        openSpan(lane, { kind: 'request', from: at, label: '' }),
      );
      return;
    }
    const tone = isOk ? 'ok' : label === 'no answer' ? 'lost' : 'bad';
    recorder.change('steady', ids.get(request) ?? '', (lane, at) => {
      const ended = endRequest(lane, at, label, tone);
      return isOk ? endLane(ended, at, 'answered') : ended;
    });
  });
}

/** Between its requests, its entries say what they wait for. */
export function recordEntries(
  recorder: Recorder,
  entries: readonly OutboxEntry[],
  isOnline: boolean,
): void {
  const left = new Set(entries.map(({ idempotencyKey }) => idempotencyKey));
  for (const entry of entries) {
    recorder.begin('steady', entry.idempotencyKey);
    recorder.change('steady', entry.idempotencyKey, (lane, at) =>
      afterEntry(lane, at, entry, isOnline),
    );
  }
  for (const { id, end } of recorder.getState().steady) {
    // Delivered it has ended already: so it was discarded, or sent with another text and key.
    if (end && end.how !== 'failed') continue;
    if (left.has(id)) continue;
    recorder.change('steady', id, (lane, at) =>
      current(lane)?.kind === 'request' ? lane : endLane(lane, at, 'cancelled'),
    );
  }
}

function afterEntry(lane: Lane, at: number, entry: OutboxEntry, isOnline: boolean): Lane {
  const { state, pause: held, nextRetryAt, attempts } = entry;
  if (lane.end?.how === 'answered' || current(lane)?.kind === 'request') return lane;
  if (state === 'dead') return lane.end?.how === 'failed' ? lane : endLane(lane, at, 'failed');
  if (held) return pause(lane, at, held.reason, held.retryAt);
  if (state !== 'pending') return lane;
  if (!isOnline) return pause(lane, at, 'offline');
  if (attempts === 0 || nextRetryAt === undefined) return lane;
  const now = current(lane);
  if (now?.kind === 'wait' && now.plannedTo === nextRetryAt) return lane;
  return openSpan(lane, { kind: 'wait', from: at, plannedTo: nextRetryAt, label: '' });
}
