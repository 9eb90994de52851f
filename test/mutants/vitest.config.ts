import { resolve } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from '../vitest.config.ts';
import { hashOf, readPlan } from './plan.ts';

/** Those without a browser. */
const names = ['unit', 'node'];
/** A planted fault may wait for ever. */
const testTimeout = 30_000;

const root = resolve(import.meta.dirname, '../..');
const plan = readPlan(process.env['MUTANTS_PLAN'] ?? '');
const order = Object.keys(plan.tests).map((test) => resolve(root, test));

const codeOf = (id: string): string | undefined => plan.code[id.replace(`${root}/`, '')];

const isOwn = (project: unknown): project is TestProjectInlineConfiguration =>
  names.some((name) => name === (project as TestProjectInlineConfiguration).test?.name);

export default defineConfig({
  ...config,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      load: (id) => codeOf(id),
      // Vitest keeps what it has transformed by the text of the file.
      configureVitest: ({ defineCacheKeyGenerator }) =>
        defineCacheKeyGenerator(({ id }) => {
          const code = codeOf(id);
          return code === undefined ? undefined : hashOf(code);
        }),
    },
  ],
  test: {
    ...config.test,
    ...(Object.keys(plan.keys).length > 0
      ? { runner: resolve(import.meta.dirname, 'worker.ts') }
      : { testTimeout, hookTimeout: testTimeout }),
    pool: 'forks',
    maxWorkers: 1,
    // Vitest reports the tests as they are; what mutants make of them is in the results.
    dangerouslyIgnoreUnhandledErrors: true,
    sequence: {
      sequencer: class extends BaseSequencer {
        override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
          return files.toSorted((a, b) => order.indexOf(a.moduleId) - order.indexOf(b.moduleId));
        }
      },
    },
    projects: (config.test?.projects ?? []).filter(isOwn),
  },
});
