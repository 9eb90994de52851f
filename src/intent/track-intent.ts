import type { Intent } from '../fetch/intent.ts';
import type { FormIntent, FormIntents } from './form-intent.ts';

/** The intent as fetch uses it: which request carries the key itself is stored before that goes. */
export function trackIntent(
  intents: FormIntents,
  { key, createdAt, primary: known }: FormIntent,
  wasSent: boolean,
): Intent {
  let primary = known;
  return {
    key,
    createdAt,
    wasSent,
    get primary() {
      return primary;
    },
    set isUnkeyed(isUnkeyed: true) {
      intents.update(key, { isUnkeyed });
    },
    set primary(id) {
      primary = id;
      intents.update(key, { primary: id });
    },
  };
}
