import { reject } from '../lib/check.ts';
import { canonicalise } from '../lib/canonical.ts';

/**
 * A payload as it comes back after a reload.
 *
 * @throws TypeError when that is not what it was.
 */
export function toKept(payload: unknown): unknown {
  try {
    const kept: unknown = JSON.parse(JSON.stringify(payload));
    if (canonicalise(kept).text === canonicalise(payload).text) return kept;
  } catch {
    // No JSON at all.
  }
  return reject(
    'useSafeSubmit',
    'keepPayload',
    true,
    process.env.NODE_ENV !== 'production' &&
      'left out, because this payload is not JSON: after a reload it would be another',
  );
}
