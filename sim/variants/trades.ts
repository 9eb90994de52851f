import { brownOutColumns, slowColumn, stormColumns, toldColumn, userColumns } from './columns.ts';
import {
  busy,
  hangInBackground,
  nearLimit,
  pageLoads,
  quiet,
  quietest,
  quietestInBackground,
  quietInBackground,
  shortWarmUp,
  stress,
  told,
  wholeNearLimit,
} from './storms-of-variants.ts';
import type { Patch } from '../run/patches.ts';
import type { Variant } from './variant.ts';
import type { VariantsPage } from './variants-page.ts';

/** A number, or other text, of a file of src that is another one. */
const change = (file: string, find: string, replace: string): Patch => ({ file, find, replace });

const schedule = 'origin/health/probe-schedule.ts';

const gaps = (share: number, leastMs?: number): Variant => ({
  name: `${share} × the outage, at least ${(leastMs ?? 1200) / 1000} s`,
  patches: [
    change(schedule, 'const outageShare = 0.5;', `const outageShare = ${share};`),
    ...(leastMs
      ? [change(schedule, 'const shortestGapMs = 1200;', `const shortestGapMs = ${leastMs};`)]
      : []),
  ],
});

const slowStart = 'origin/slow-start.ts';

const releases = (share: number, mostS: number): Variant => ({
  name: `${share} × the outage, at most ${mostS} s`,
  patches: [
    change(slowStart, 'const startShare = 0.4;', `const startShare = ${share};`),
    change(slowStart, 'const mostStartMs = 12_000;', `const mostStartMs = ${mostS * 1000};`),
  ],
});

const paces = (factor: number, mostS: number): Variant => ({
  name: `${factor} × a slow answer, at most ${mostS} s`,
  patches: [
    change(slowStart, 'const latencyFactor = 10;', `const latencyFactor = ${factor};`),
    change(slowStart, 'const longestGapMs = 12_000;', `const longestGapMs = ${mostS * 1000};`),
  ],
});

const spreads = (share: number): Variant => ({
  name: `${share * 100} % of it`,
  patches: [
    change('origin/limits/rate-limit.ts', 'const lateShare = 0.1;', `const lateShare = ${share};`),
  ],
});

const rows = (rate: number, failures: number): Variant => ({
  name: `${failures} failures in a row`,
  patches: [
    change(
      'origin/health/endpoint-health.ts',
      'const leastRate = 0.04;',
      `const leastRate = ${rate};`,
    ),
  ],
});

const judgeAll: Variant = {
  name: 'slow is what takes longer than 1 s, also where nothing is known',
  patches: [change('origin/health/latency.ts', 'if (!this.#isKnown) return true;', '')],
};

const asForeground: Variant = {
  name: 'retries after 0 to 1 s, as in the foreground',
  patches: [
    change(
      'policy/options.ts',
      "backoff: 'equal',\n    baseMs: 40_000,",
      "backoff: 'full',\n    baseMs: 1000,",
    ),
  ],
};

const rareProbes: Variant = {
  name: 'first probes after 15 to 30 s, also of data that is shown',
  patches: [change(schedule, '  [5000, 10_000],\n  [10_000, 20_000],\n', '')],
};

const extent = { hasUser: true, partial: [], storms: [busy, nearLimit, quiet, quietest] };

const columns = [
  ...userColumns,
  ...stormColumns(busy.title, ['requests', 'answered', 'well', 'peak']),
  ...stormColumns(nearLimit.title, ['answered', 'fail']),
  ...stormColumns(quiet.title, ['requests', 'well', 'peak']),
  ...stormColumns(quietest.title, ['requests', 'well', 'peak']),
];

/** What excludes each other, and which choice was made. */
export const trades: VariantsPage = {
  introduction: `# Storms: what trades for what

Made by \`npm run storms -- --only trades\`; the page is written by it, so change what makes it.

Not everything can be had at once. Where two goals exclude each other, this order holds: the user's first answer; that a server at loads 0.5 and 0.7 comes back; the user's whole page; that new requests end well within 60 s at load 0.85; then the rest, such as requests in the outage and peaks. **Bold** is what is clearly worse than with the choice that was made, the first row of each table. One seed, 30 s of outage, and storms of half the size where nothing else is said. Which goals are not reached, and by how much, is in [the fleet](figures.md#what-is-not-reached).`,
  base: 'as it is',
  sections: [
    {
      title: 'How far apart are the probes that a user waits for?',
      text: 'The gap from one probe to the next is half of the outage so far, from 1.2 s to 12 s. Tabs that wait for one thing each send (waiting ÷ gap) requests a second, and that is also the peak at recovery. So a gap that keeps a fleet of quiet tabs within the goals for requests and for the peak makes each user wait longer for the first answer. **Chosen for the user**: the first answer comes first in the order, and the longest gap that reaches all cells of one user was taken.',
      variants: [gaps(0.5, 2000), gaps(0.7), gaps(1), gaps(2)],
      columns,
      extent,
    },
    {
      title: 'How fast does a page resume once its server is back?',
      text: 'All that a page has paused resumes within two fifths of the outage, at most 12 s, if answers are fast. In these storms it makes no difference, because their tabs wait for one or a few things each: there the speed of the answers decides. **Chosen for the user**: a page of 30 requests is whole within its goal ([one user](one-user.md)), and does not send them all at once to a server that is just back.',
      variants: [releases(0.1, 3), releases(0.25, 6), releases(1, 30)],
      columns,
      extent,
    },
    {
      title: 'And when its answers are slow?',
      text: 'After a slow answer the next request follows after ten times what that answer took, at most 12 s. A smaller factor lets fewer servers come back under a time limit of 2 s, and a larger one makes a page wait longer whose server is slow without being in danger. None of them lowers by much what fails at load 0.85, where 15 % of the server is left for all that was asked in the outage. **Chosen for the user**: the smallest factor with which a server at load 0.7 comes back under a limit of 2 s with 1,000 tabs and 30 s of use before the outage.',
      variants: [paces(5, 12), paces(10, 6), paces(16, 12), judgeAll],
      columns: [
        ...userColumns,
        slowColumn,
        ...stormColumns(wholeNearLimit.title, ['answered', 'fail']),
        ...stormColumns(nearLimit.title, ['answered', 'fail']),
        ...stormColumns(stress.title, ['answered', 'fail']),
        ...stormColumns(shortWarmUp.title, ['answered', 'fail']),
        ...stormColumns(pageLoads.title, ['answered', 'fail', 'peak']),
      ],
      extent: { ...extent, storms: [wholeNearLimit, nearLimit, stress, shortWarmUp, pageLoads] },
    },
    {
      title: 'How many failures are an outage?',
      text: 'Two in a row, where failures are rare; more, where some are usual. At 90 % errors of one endpoint all 30 first requests of a page fail in 4 % of the pages. That is what an outage looks like: these pages are paused and probed, and miss what plain retries would have brought them by chance, which is 1.4 % of all queries. To have it, a page must retry for itself until some 60 have failed. **Chosen for the user**: outages are more frequent than endpoints of which nine in ten requests fail, and are waited out.',
      variants: [rows(0.35, 6), rows(0.9, 59)],
      columns: [
        ...brownOutColumns,
        ...userColumns,
        ...stormColumns(busy.title, ['requests', 'answered', 'well', 'peak']),
        ...stormColumns(pageLoads.title, ['requests', 'answered', 'peak']),
      ],
      extent: {
        hasUser: true,
        partial: ['70 % errors, one endpoint', '90 % errors, one endpoint'],
        storms: [busy, pageLoads],
      },
    },
    {
      title: 'How rarely does background work ask?',
      text: "Work that is declared background (`preset: 'background'`) is retried after 20 to 40 s. A refetch of data that is shown is not: it is retried after 0 to 1 s, as in the second row, and then probed for after 5 to 10 s, because a user may look at that data. The last row is what reaches the goal in the last cell, too. **Chosen for the user**: data on screen is not old for 15 to 30 s because one refetch of it has failed twice.",
      variants: [asForeground, rareProbes],
      columns: [
        ...stormColumns(quietInBackground.title, ['requests']),
        ...stormColumns(quietestInBackground.title, ['requests']),
        ...stormColumns(hangInBackground.title, ['requests']),
      ],
      extent: {
        ...extent,
        hasUser: false,
        storms: [quietInBackground, quietestInBackground, hangInBackground],
      },
    },
    {
      title: 'When do those go who were told by Retry-After?',
      text: 'Each tab goes within a tenth of its Retry-After after the end of it. With Retry-After = the time until recovery, all that was asked in the outage goes in the seconds after it. A longer spread makes the peak lower and the user wait longer, who was told when to come back. **Chosen for the user**: at load 0.7 the peak does no harm to a server that lets 4 s of work wait, and a longer spread misses goals of one user.',
      variants: [spreads(0), spreads(0.25), spreads(0.5)],
      columns: [
        toldColumn,
        ...userColumns.slice(0, 2),
        ...stormColumns(told.title, ['answered', 'well', 'peak', 'fail']),
      ],
      extent: { ...extent, storms: [told] },
    },
  ],
};
