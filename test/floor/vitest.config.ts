import { defineConfig } from 'vitest/config';
import config, { floorOnServerProject, floorProject } from '../vitest.config.ts';

// npm run floor: all that React and React Query have a part in, on the oldest versions of them.
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    projects: [
      {
        ...floorProject,
        test: {
          ...floorProject.test,
          include: [
            'test/core/{react-query,form,react}/**/*.test.{ts,tsx}',
            'test/devtools/panel.test.tsx',
          ],
          exclude: [
            ...floorProject.test.exclude,
            // React 18 has no form actions.
            'test/core/form/react-*.test.tsx',
            // Thousands of histories of a form, in which the versions have no part.
            'test/core/form/{form-properties,way-out}.test.ts',
          ],
        },
      },
      floorOnServerProject,
    ],
  },
});
