import { createSteadfetch, outcomeOf } from 'steadfetch';
import type { Line } from '../../proof/contender.ts';
import { contenders } from '../../proof/contenders.ts';
import { submitAll } from '../../proof/submit-all.ts';

// The contenders of the proof in a page, whose orders go to another origin. Nothing to click.

Object.assign(window, {
  async submitAll(name: string, line: Line, amount: Parameters<typeof submitAll>[2]) {
    const contender = contenders[name];
    if (!contender) throw new Error(`There is no contender "${name}".`);
    return [...(await submitAll(contender, line, amount))];
  },
  /** The kind of outcome that a request has. */
  async outcomeKindOf(url: string) {
    try {
      await createSteadfetch().fetch(url);
      return 'ok';
    } catch (error) {
      return outcomeOf(error)?.kind;
    }
  },
});
