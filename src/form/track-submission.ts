import type { Intent } from '../fetch/intent.ts';
import { fingerprint } from '../lib/fingerprint.ts';
import type { FormIntent, FormIntents } from './submission.ts';

/** A submission as fetch uses it: whatever is known of its requests is stored before they go. */
export function trackIntent(
  intents: FormIntents,
  { key, createdAt, steps: before = [], ...submission }: FormIntent,
  wasSent: boolean,
): Intent {
  let steps = before;
  let { isRepeatable, expiresAt = Infinity } = submission;
  const repeat = (next: boolean): void => {
    // One request without a key is enough.
    if (isRepeatable === next || isRepeatable === false) return;
    isRepeatable = next;
    intents.update(key, { isRepeatable });
  };
  return {
    key,
    createdAt,
    wasSent,
    get isUnkeyed() {
      return isRepeatable === false;
    },
    set isUnkeyed(_) {
      repeat(false);
    },
    get isRepeatable() {
      return !!isRepeatable;
    },
    set isRepeatable(_) {
      repeat(true);
    },
    get past() {
      return steps;
    },
    digest: (body) => fingerprint(intents.secret(), body),
    keep(step, lifetimeMs = Infinity) {
      const { body: _, attempt: __, doubts: ___, ...kept } = step;
      steps = [...steps.filter(({ id }) => id !== step.id), kept];
      expiresAt = Math.min(expiresAt, createdAt + lifetimeMs);
      intents.update(key, { steps, ...(expiresAt < Infinity && { expiresAt }) });
    },
  };
}
