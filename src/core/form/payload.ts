import { canonicalise, fingerprintOf } from '../lib/fingerprint.ts';
import { reject } from '../lib/input/check.ts';

/**
 * Identifies the content of a payload, without the fields that are used up by one request.
 *
 * @throws TypeError for a payload without comparable content.
 */
export function fingerprintOfPayload(payload: unknown, fresh: readonly string[]): Promise<string> {
  return fingerprintOf(withoutFields(payload, fresh));
}

function withoutFields(payload: unknown, names: readonly string[]): unknown {
  if (payload instanceof FormData) {
    const copy = new FormData();
    for (const [name, value] of payload) if (!names.includes(name)) copy.append(name, value);
    return copy;
  }
  const prototype: unknown = Object(payload) === payload && Object.getPrototypeOf(payload);
  if (prototype !== Object.prototype && prototype !== null) return payload;
  return Object.fromEntries(
    Object.entries(payload as object).filter(([name]) => !names.includes(name)),
  );
}

/**
 * A payload as it comes back after a reload.
 *
 * @throws TypeError when it would come back as another.
 */
export function toKept(payload: unknown): unknown {
  try {
    const kept: unknown = JSON.parse(JSON.stringify(payload));
    if (canonicalise(kept).text === canonicalise(payload).text) return kept;
  } catch {
    // The payload cannot be written as JSON.
  }
  return reject(
    'useSafeSubmit',
    'keepPayload',
    true,
    'left out, because this payload is not JSON: after a reload it would be another',
  );
}
