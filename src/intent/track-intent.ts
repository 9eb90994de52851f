import type { Intent } from '../fetch/intent.ts';
import { fingerprint } from './fingerprint.ts';
import type { FormIntent, FormIntents } from './form-intent.ts';

/**
 * The intent as fetch uses it: which request carries the key itself is stored before that goes, and
 * of every request what its bytes are known by.
 */
export function trackIntent(
  intents: FormIntents,
  { key, createdAt, primary: known, steps: before = [] }: FormIntent,
  wasSent: boolean,
): Intent {
  let primary = known;
  let steps = before;
  return {
    key,
    createdAt,
    wasSent,
    get primary() {
      return primary;
    },
    set primary(id) {
      primary = id;
      intents.update(key, { primary: id });
    },
    set isUnkeyed(isUnkeyed: true) {
      intents.update(key, { isUnkeyed });
    },
    get past() {
      return steps;
    },
    digest: (body) => fingerprint(intents.secret(), body),
    keep(step) {
      const { body: _, attempt: __, isPast: ___, ...kept } = step;
      steps = [...steps.filter(({ id }) => id !== step.id), kept];
      intents.update(key, { steps });
    },
  };
}
