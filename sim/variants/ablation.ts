import { brownOutColumns, partialColumns, stormColumns, userColumns } from './columns.ts';
import { mechanisms } from './mechanisms.ts';
import { busy, inBackground, quiet, stress, told, wholeNearLimit } from './storms-of-variants.ts';
import type { VariantsPage } from './variants-page.ts';

/** Where some runs come back and others do not. */
const nearLimit = { ...wholeNearLimit, seeds: 5 };

/** What each mechanism carries. */
export const ablation: VariantsPage = {
  introduction: `# Storms: what each mechanism carries

Made by \`npm run storms -- --only ablation\`; the page is written by it, so change what makes it.

Each mechanism of src/core/origin is switched off alone, by a patch of the source (sim/variants/mechanisms.ts) and not by an option; the first row has all of them. **Bold** is what is clearly worse without it: by a tenth, and by more than chance. What makes nothing worse is held by a test, which the last column names, or does not earn its lines.

Of [one user](one-user.md) 80 cells are run, of [what is partly broken](partial-failure.md) 60 tabs, and of the [storms](figures.md) one seed at half the size: all that asks is half as many, and so is what the server can do. At load 0.85, where chance decides much, it is five seeds at the whole size.`,
  base: 'as it is',
  sections: [
    {
      title: 'One user, and what is partly broken',
      variants: mechanisms,
      columns: [...userColumns, ...partialColumns, ...brownOutColumns],
      extent: {
        hasUser: true,
        partial: [
          'widget hangs',
          'one hangs',
          'one 429, 30 s',
          '10 % errors',
          '70 % errors, one endpoint',
          '90 % errors, one endpoint',
          'mobile, shown offline',
        ],
        storms: [],
      },
    },
    {
      title: 'Storms',
      variants: mechanisms,
      columns: [
        ...stormColumns(busy.title, ['requests', 'answered', 'well', 'peak']),
        ...stormColumns(nearLimit.title, ['answered', 'well']),
        ...stormColumns(quiet.title, ['requests', 'well', 'peak']),
        ...stormColumns(told.title, ['peak']),
        ...stormColumns(inBackground.title, ['requests']),
        ...stormColumns(stress.title, ['answered', 'well']),
      ],
      extent: {
        hasUser: false,
        partial: [],
        storms: [busy, nearLimit, quiet, told, inBackground, stress],
      },
    },
  ],
};
