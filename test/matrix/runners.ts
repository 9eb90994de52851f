import manifest from '../../package.json' with { type: 'json' };

const ours = manifest.devDependencies;

/** The DOM that a test runs in. */
export type Dom = 'jsdom' | 'happy-dom';

/** A test runner, and what an app installs to have it. */
export interface Runner {
  readonly name: string;
  /** Runners with the same folder share an installation. */
  readonly folder: string;
  /** The lowest major version of Node that it is for. */
  readonly fromNode: number;
  readonly packages: Readonly<Record<string, string>>;
  /** What Node runs. */
  readonly args: (dom: Dom) => readonly string[];
}

const vitest = (major: number, fromNode: number, packages: Runner['packages']): Runner => ({
  name: `Vitest ${major}`,
  folder: `vitest-${major}`,
  fromNode,
  packages: { 'happy-dom': '21.0.4', ...packages },
  args: (dom) => ['node_modules/vitest/vitest.mjs', 'run', '--environment', dom],
});

const jest = (compiler: string, config: string): Runner => ({
  name: `Jest 30, ${compiler}`,
  folder: 'jest-30',
  fromNode: 20,
  packages: {
    '@babel/core': '7.29.13',
    '@babel/preset-env': '7.29.14',
    '@babel/preset-react': '7.29.7',
    '@babel/preset-typescript': '7.29.7',
    // 21 has no environment for Jest.
    '@happy-dom/jest-environment': '20.14.5',
    '@swc/core': '1.16.22',
    '@swc/jest': '0.2.39',
    'babel-jest': '30.5.2',
    'babel-plugin-transform-import-meta': '2.3.3',
    jest: '30.5.2',
    'jest-environment-jsdom': '30.5.2',
    'jest-fixed-jsdom': '0.0.11',
  },
  args: (dom) => [
    'node_modules/jest/bin/jest.js',
    '--config',
    config,
    ...(dom === 'jsdom' ? [] : ['--env', './happy-dom.js']),
  ],
});

export const runners: readonly Runner[] = [
  // The newest jsdom is not for Node 20.
  vitest(3, 20, { vitest: '3.2.7', jsdom: '29.1.1' }),
  vitest(4, 20, { vitest: '4.1.12', jsdom: '29.1.1' }),
  vitest(5, 22, { vitest: ours.vitest, vite: ours.vite, jsdom: ours.jsdom }),
  jest('Babel', 'jest.config.js'),
  jest('SWC', 'swc.config.js'),
];

export const doms: readonly Dom[] = ['jsdom', 'happy-dom'];
export const nodes: readonly string[] = ['20.20.2', '26.10.0'];
export const msws: readonly string[] = ['2.15.0', ours.msw];

/** What the test itself imports. */
export const imported: Readonly<Record<string, string>> = {
  '@tanstack/react-query': ours['@tanstack/react-query'],
  '@testing-library/dom': ours['@testing-library/dom'],
  '@testing-library/react': ours['@testing-library/react'],
  '@testing-library/user-event': ours['@testing-library/user-event'],
  react: ours.react,
  'react-dom': ours['react-dom'],
};
