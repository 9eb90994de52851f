import type { Intent } from '../fetch/intent.ts';
import { fingerprint } from './fingerprint.ts';
import type { FormIntent, FormIntents } from './form-intent.ts';

/** The intent as fetch uses it: before a request goes, it is stored what its bytes are known by. */
export function trackIntent(
  intents: FormIntents,
  { key, createdAt, steps: before = [] }: FormIntent,
  wasSent: boolean,
): Intent {
  let steps = before;
  return {
    key,
    createdAt,
    wasSent,
    set isUnkeyed(isUnkeyed: true) {
      intents.update(key, { isUnkeyed });
    },
    get past() {
      return steps;
    },
    digest: (body) => fingerprint(intents.secret(), body),
    keep(step) {
      const { body: _, attempt: __, ...kept } = step;
      steps = [...steps.filter(({ id }) => id !== step.id), kept];
      intents.update(key, { steps });
    },
  };
}
