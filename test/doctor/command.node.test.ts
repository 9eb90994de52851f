import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { runDoctor } from '../../src/doctor/command.ts';

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it in a folder of these files. */
function run(files: Readonly<Record<string, string>>, ...args: readonly string[]): Ran {
  const folder = mkdtempSync(join(tmpdir(), 'steadfetch-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, code] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), code);
  }
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
  const code = runDoctor(args, streams, folder);
  const read = (stream: PassThrough): string => String(stream.read() ?? '');
  return { code, stdout: read(streams.stdout), stderr: read(streams.stderr) };
}

const wrong = 'useQuery({ queryKey, queryFn, retry: 3 });\n';
const right = 'useQuery({ queryKey, queryFn });\n';

const inJson = ({ stdout }: Ran) =>
  JSON.parse(stdout) as {
    readonly exitCode: number;
    readonly files: number;
    readonly findings: readonly { readonly file: string; readonly rule: string }[];
    readonly suppressed: number;
    readonly notes: readonly string[];
    readonly skipped: readonly { readonly file: string; readonly reason: string }[];
  };

const found = (ran: Ran): readonly string[] => inJson(ran).findings.map(({ file }) => file);

test('a finding has its place, a reason, a remedy and a page, and the exit code is 1', () => {
  expect(run({ 'src/app.tsx': wrong })).toEqual({
    code: 1,
    stdout: `src/app.tsx:1:31 retries-4xx
  A 4xx says that the request is wrong: sent again it gets the same answer, later.
  Retry by status (no answer, 5xx, 408, 425 and 429); \`retryPolicy()\` does so. (node_modules/steadfetch/docs/doctor.md#retries-4xx)

1 finding in 1 file.
`,
    stderr: '',
  });
});

test('where nothing is wrong, the exit code is 0', () => {
  expect(run({ 'a.ts': right, 'b.js': right })).toEqual({
    code: 0,
    stdout: '0 findings in 2 files.\n',
    stderr: '',
  });
});

test('a report for machines has the same', () => {
  expect(inJson(run({ 'a.ts': wrong }, '--json'))).toEqual({
    exitCode: 1,
    files: 1,
    findings: [
      {
        file: 'a.ts',
        line: 1,
        column: 31,
        rule: 'retries-4xx',
        why: 'A 4xx says that the request is wrong: sent again it gets the same answer, later.',
        remedy: 'Retry by status (no answer, 5xx, 408, 425 and 429); `retryPolicy()` does so.',
        page: 'node_modules/steadfetch/docs/doctor.md#retries-4xx',
      },
    ],
    suppressed: 0,
    notes: [],
    skipped: [],
  });
});

test.each(['ts', 'tsx', 'js', 'jsx', 'mjs', 'cjs', 'mts', 'cts'])('reads .%s', (end) => {
  expect(found(run({ [`a.${end}`]: wrong }, '--json'))).toEqual([`a.${end}`]);
});

test.each([
  'node_modules/a/index.js',
  'packages/app/node_modules/a/index.js',
  'dist/a.js',
  'build/a.js',
  '.next/a.js',
  'a.d.ts',
  'a.d.mts',
  'a.test.tsx',
  'a.spec.js',
  'a.stories.tsx',
  '__tests__/a.ts',
  '__fixtures__/a.ts',
  '__snapshots__/a.ts',
  'e2e/a.ts',
  'cypress/a.ts',
  'src/test/a.tsx',
  'tests/a.ts',
  'src/testing/a.tsx',
  'src/test-utils.tsx',
  'src/testUtils.ts',
  'src/test.tsx',
  'src/setupTests.ts',
  'setup-tests.js',
  'a.min.js',
])('does not read %s, unless it is named', (name) => {
  expect(inJson(run({ [name]: wrong, 'b.ts': right }, '--json')).files).toBe(1);
  expect(found(run({ [name]: wrong }, name, '--json'))).toEqual([name]);
});

test.each(['testimonials.tsx', 'contest.ts', 'latest/a.ts', 'test.d/a.ts', 'src/tester.ts'])(
  'reads %s, which is no test',
  (name) => {
    expect(found(run({ [name]: wrong }, '--json'))).toEqual([name]);
  },
);

test('does not read what is no script', () => {
  expect(inJson(run({ 'a.json': '{}', 'a.md': wrong, 'b.ts': right }, '--json')).files).toBe(1);
});

test('the paths that are named are read, each file once', () => {
  const files = { 'a/a.ts': wrong, 'b/b.ts': wrong, 'c/c.ts': wrong };
  expect(found(run(files, 'a', 'b/b.ts', 'b', '--json'))).toEqual(['a/a.ts', 'b/b.ts']);
});

test('a file that does not parse, or is too deep, is named and skipped', () => {
  const deep = `const sum = ${'1 + '.repeat(20_000)}1;`;
  const ran = run({ 'a.ts': 'const = ;', 'b.ts': wrong, 'deep.js': deep });
  expect(ran.code).toBe(1);
  expect(ran.stdout).toContain('a.ts is skipped: Unexpected token (1:6)\n');
  expect(ran.stdout).toContain('deep.js is skipped: Maximum call stack size exceeded\n');
  expect(ran.stdout).toContain('1 finding in 3 files.\n');
});

test.each([
  [
    'types, decorators and accessors',
    'a.tsx',
    '@a class A { constructor(@b private readonly x: X) {} accessor y = 1 as unknown as string; }',
  ],
  ['generic arrows', 'a.mts', 'export const f = <T>(x: T): T => x;'],
  [
    'import attributes and using',
    'a.ts',
    "import a from './a.json' with { type: 'json' }; { using b = open(a); }",
  ],
  ['Flow', 'a.js', '// @flow\nimport type { X } from "./x"; const x: X = (y: any);'],
  ['CommonJS', 'a.cjs', "'use strict'; const x = require('x'); return;"],
  ['top-level await', 'a.mjs', 'await run();'],
  ['a hashbang', 'a.js', '#!/usr/bin/env node\nrun();'],
])('%s are parsed', (_, name, code) => {
  expect(inJson(run({ [name]: code }, '--json')).skipped).toEqual([]);
});

describe('a comment', () => {
  const ignored = (code: string) => {
    const { findings, suppressed, notes } = inJson(run({ 'a.tsx': code }, '--json'));
    return { left: findings.map(({ rule }) => rule), suppressed, notes };
  };
  const hint = 'write // steadfetch-ignore rule-name: reason';

  test.each([
    ['on the line before', `// steadfetch-ignore retries-4xx: the API is ours\n${wrong}`],
    ['on the line', wrong.replace('\n', ' // steadfetch-ignore retries-4xx: the API is ours')],
    ['in a block', `/*\n * steadfetch-ignore retries-4xx: the API is ours\n */\n${wrong}`],
    [
      'in JSX',
      `<A\n  // steadfetch-ignore retries-4xx: ours\n  b={${wrong.replace(';\n', '')}}\n/>;`,
    ],
  ])('%s suppresses the finding', (_, code) => {
    expect(ignored(code)).toEqual({ left: [], suppressed: 1, notes: [] });
  });

  test('on the line of a finding leaves that of the next line', () => {
    const first = wrong.replace('\n', ' // steadfetch-ignore retries-4xx: ours\n');
    expect(ignored(first + wrong)).toEqual({ left: ['retries-4xx'], suppressed: 1, notes: [] });
  });

  test.each([
    ['without a reason', 'steadfetch-ignore retries-4xx', 'retries-4xx', 'has no reason'],
    ['of no rule', 'steadfetch-ignore retry: ours', 'retry', 'names no rule'],
    [
      'of another rule',
      'steadfetch-ignore no-jitter: ours',
      'no-jitter',
      'has no no-jitter beside it',
    ],
  ])('%s suppresses nothing, and is named', (_, comment, name, fault) => {
    expect(ignored(`// ${comment}\n${wrong}`)).toEqual({
      left: ['retries-4xx'],
      suppressed: 0,
      notes: [`a.tsx:1 steadfetch-ignore ${name} suppresses nothing, for it ${fault}: ${hint}`],
    });
  });
});

test('queries whose retries another file turns off are in no loop', () => {
  const query = "import ky from 'ky';\nuseQuery({ queryKey, queryFn: () => ky('/a').json() });";
  const client = (retry: string) =>
    `new QueryClient({ defaultOptions: { queries: { retry: ${retry} } } });`;
  const isOn = (error: string) => client(`(count, error) => ${error}`);
  expect(found(run({ 'a.ts': query, 'b.ts': client('false') }, '--json'))).toEqual([]);
  expect(found(run({ 'a.ts': query, 'b.ts': isOn('error.status > 499') }, '--json'))).toEqual([
    'a.ts',
  ]);
});

test.each([
  ["import { render } from '@testing-library/react';", 'render-app.tsx'],
  ["import { vi } from 'vitest';", 'providers.tsx'],
  ["import type { Preview } from '@storybook/react';", 'preview.tsx'],
  ["import { setupServer } from 'msw/node';", 'mock-server.ts'],
  ['', 'test-utils.tsx'],
])('a client that is for tests turns off no retries of the app: %s in %s', (line, name) => {
  const query = "import ky from 'ky';\nuseQuery({ queryKey, queryFn: () => ky('/a').json() });";
  const client = 'new QueryClient({ defaultOptions: { queries: { retry: false } } });';
  const files = { 'a.ts': query, [name]: `${line}\n${client}` };
  expect(found(run(files, '--json'))).toEqual(['a.ts']);
});

test('--only finds what these rules find', () => {
  const both = 'useQuery({ queryKey, queryFn, retry: 3, retryDelay: 1000 });';
  const ran = inJson(run({ 'a.ts': both }, '--json', '--only', 'no-jitter'));
  expect(ran.findings.map(({ rule }) => rule)).toEqual(['no-jitter']);
});

test.each([
  [['--help'], /^Usage: steadfetch doctor \[paths…\] \[options\]\n/],
  [['--list'], /^key-per-attempt: .*\nnested-retry: .*\n(?:[\w-]+: .*\n){9}$/],
])('%j is answered, with the exit code 0', (args, text) => {
  const { code, stdout } = run({}, ...args);
  expect(code).toBe(0);
  expect(stdout).toMatch(text);
});

test.each([
  [['--jsno'], "Unknown option '--jsno'"],
  [['--only', 'jitter'], '--only is jitter, and must be the name of a rule: see --list.'],
  [['lib'], 'lib cannot be read: ENOENT'],
  [['empty'], 'There is no file to read in empty.'],
])('%j is refused with its remedy, and the exit code is 2', (args, message) => {
  const { code, stdout, stderr } = run({ 'a.ts': right, 'empty/readme.md': '' }, ...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
});
