import { browsers } from './browsers.ts';
import { afterFailures } from './failures.ts';
import { keys } from './keys.ts';
import { losses } from './losses.ts';
import { payloads } from './payloads.ts';
import { replays } from './replays.ts';
import type { Requirement } from './requirement.ts';
import { scopes } from './scopes.ts';
import { simultaneous } from './simultaneous.ts';

/** Every requirement, in the order in which they run. */
export const groups: readonly {
  readonly title: string;
  readonly requirements: readonly Requirement[];
}[] = [
  { title: 'The same key again', requirements: replays },
  { title: 'At the same time', requirements: simultaneous },
  { title: 'Other bytes, large and empty bodies', requirements: payloads },
  { title: 'What is a key', requirements: keys },
  { title: 'Other users, paths and methods', requirements: scopes },
  { title: 'After a failure', requirements: afterFailures },
  { title: 'Lost answers, restarts and lifetime', requirements: losses },
  { title: 'Pages of another origin', requirements: browsers },
];

export const requirements: readonly Requirement[] = groups.flatMap((group) => group.requirements);
