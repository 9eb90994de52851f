import retry from 'p-retry';
import type { OpenTab } from './policy.ts';
import { send } from './send.ts';

/** p-retry as it is: ten retries after 1, 2, 4 ... 512 s, no jitter. */
export const pRetry: OpenTab = (context) => (url) => retry(() => send(context, url));
