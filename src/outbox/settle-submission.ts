import { toDeadLetter } from './entry.ts';
import { gone } from './errors.ts';
import type { Seal } from './seal.ts';
import type { Storage } from './storage.ts';
import type { Submissions } from './submissions.ts';

/**
 * Settles a submission by what the disk says of it, where another tab may have ended it; `delivered`
 * is what that tab has said. Never rejects.
 */
export type Settle = (id: string, delivered?: { readonly data: unknown }) => Promise<void>;

export function createSettle(
  submissions: Submissions,
  seal: Seal,
  durable: Storage['durable'],
): Settle {
  return async (id, delivered) => {
    const engine = durable();
    const known = submissions.get(id);
    if (!engine || !known?.isSaved) return;
    try {
      const row = await engine.store.find(id);
      if (submissions.get(id) !== known) return;
      if (row?.state === 'done') {
        submissions.resolve(id, await seal.open(row.result).catch(() => undefined));
        await engine.store.acknowledge(id);
      } else if (row?.state === 'dead') submissions.reject(id, toDeadLetter(row));
      else if (!row && delivered) submissions.resolve(id, delivered.data);
      else if (!row) submissions.reject(id, gone(known.facts));
    } catch (error) {
      engine.onError(error);
    }
  };
}
