import { stormColumns, userColumns } from './columns.ts';
import { busy, nearLimit, quiet, quietest } from './storms-of-variants.ts';
import type { Variant } from './variant.ts';
import type { VariantsPage } from './variants-page.ts';

const gaps = (share: number): Variant => ({
  name: `${share}`,
  patches: [
    {
      file: 'origin/probe-schedule.ts',
      find: 'const outageShare = 0.5;',
      replace: `const outageShare = ${share};`,
    },
  ],
});

const releases = (share: number, mostS: number): Variant => ({
  name: `${share} × the outage, at most ${mostS} s`,
  patches: [
    {
      file: 'origin/release.ts',
      find: 'const releaseShare = 0.4;',
      replace: `const releaseShare = ${share};`,
    },
    {
      file: 'origin/release.ts',
      find: 'const mostReleaseMs = 12_000;',
      replace: `const mostReleaseMs = ${mostS * 1000};`,
    },
  ],
});

const columns = [
  ...userColumns,
  ...stormColumns(busy.title, ['requests', 'answered', 'well', 'peak']),
  ...stormColumns(nearLimit.title, ['answered', 'well']),
  ...stormColumns(quiet.title, ['requests', 'well', 'peak']),
  ...stormColumns(quietest.title, ['requests', 'well', 'peak']),
];

/** What excludes each other, and which choice was made. */
export const trades: VariantsPage = {
  introduction: `# Storms: what trades for what

Made by \`npm run storms -- --only trades\`; the page is written by it, so change what makes it.

Not everything can be had at once. Where two goals exclude each other, this order holds: the user's first answer; that a server at loads 0.5 and 0.7 comes back; the user's whole page; that it is well again within 60 s at load 0.85; then the rest, as requests in the outage and peaks. **Bold** is what is clearly worse than with the choice that was made, the first row of each table. One seed, and storms of half the size.`,
  base: 'as it is',
  sections: [
    {
      title: 'How far apart are the probes that a user waits for?',
      text: 'The gap from one probe to the next, as a share of the outage so far; never more than 12 s. A user wants it small. A fleet of tabs that wait for one thing each asks (waiting ÷ gap) times a second, and that is also the peak at recovery: with 4,000 and 20,000 tabs no share that rule 1 allows keeps the requests and the peak of the goals.',
      variants: [gaps(0.35), gaps(0.7), gaps(1), gaps(2)],
      columns,
    },
    {
      title: 'How fast does a page go, once its server is back?',
      text: 'All that a page has paused goes within this time, if answers are fast.',
      variants: [releases(0.1, 3), releases(0.25, 6), releases(1, 30)],
      columns,
    },
  ],
  extent: { partial: [], storms: [busy, nearLimit, quiet, quietest] },
};
