import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** What an example may take as given: it shows one thing, not the whole module around it. */
const given = `
import { QueryClient, useQuery } from '@tanstack/react-query';
import { backoffDelay, createSteadfetch, decide, isSteadfetchError, parseRetryAfter, presets } from 'steadfetch';
import type { Operation } from 'steadfetch';
import { useCountdown, useRetryStatus } from 'steadfetch/react';
import { parseHttpDate } from '${root}/src/policy/http-date.ts';
import { failures } from '${root}/src/policy/outcome.ts';
const steady = createSteadfetch();
declare const error: unknown;
declare const operation: Operation;
declare const retryAt: number | undefined;
declare const queryKey: readonly string[];
declare const queryFn: () => Promise<string>;
declare function askThePerson(): void;
`;

/** The code of every @example in src, by the file and the place in it. */
function findExamples(): { name: string; code: string }[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(root, 'src', file), 'utf8');
      const comments = [...text.matchAll(/\/\*\*.*?\*\//gs)].map(([comment]) => comment);
      const blocks = comments
        .filter((comment) => comment.includes('@example'))
        .map((comment) => comment.replaceAll(/^\s*\* ?/gm, ''))
        .flatMap((comment) => [...comment.matchAll(/```(?<kind>tsx?)\n(?<code>.*?)```/gs)]);
      return blocks.map(({ groups }, index) => ({
        name: `${file.replaceAll(/[^a-z]/g, '-')}-${index}.${groups?.['kind']}`,
        code: groups?.['code'] ?? '',
      }));
    });
}

test('every example in the documentation of src compiles', () => {
  const folder = mkdtempSync(join(root, 'node_modules', '.examples-'));
  try {
    const examples = findExamples();
    expect(examples.length).toBeGreaterThan(20);
    for (const { name, code } of examples) {
      const whole = code.includes('import ')
        ? code
        : `${given}\nexport async function example() {\n${code}\n}\n`;
      writeFileSync(join(folder, name), whole);
    }
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        rewriteRelativeImportExtensions: false,
        allowImportingTsExtensions: true,
        paths: {
          steadfetch: [join(root, 'src/index.ts')],
          'steadfetch/react': [join(root, 'src/react.ts')],
          'steadfetch/testing': [join(root, 'src/testing.ts')],
        },
      },
      files: examples.map(({ name }) => join(folder, name)),
      include: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    let said = '';
    try {
      execFileSync(tsc, ['-p', folder], { encoding: 'utf8' });
    } catch (failure) {
      said = (failure as { stdout: string }).stdout;
    }
    expect(said).toBe('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
