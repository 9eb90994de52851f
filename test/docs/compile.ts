import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** A module to compile, by its file name. */
export interface Sample {
  readonly name: string;
  readonly code: string;
}

/** What the compiler says about samples that import the package by its name; '' when all is well. */
export function compile(samples: readonly Sample[]): string {
  const folder = mkdtempSync(join(root, 'node_modules', '.samples-'));
  try {
    for (const { name, code } of samples) writeFileSync(join(folder, name), code);
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        rewriteRelativeImportExtensions: false,
        allowImportingTsExtensions: true,
        paths: {
          steadfetch: [join(root, 'src/index.ts')],
          'steadfetch/axios': [join(root, 'src/axios.ts')],
          'steadfetch/devtools': [join(root, 'src/devtools.ts')],
          'steadfetch/grpc': [join(root, 'src/grpc.ts')],
          'steadfetch/otel': [join(root, 'src/otel.ts')],
          'steadfetch/outbox': [join(root, 'src/outbox.ts')],
          'steadfetch/react': [join(root, 'src/react.ts')],
          'steadfetch/server': [join(root, 'src/server.ts')],
          'steadfetch/server/postgres': [join(root, 'src/server/postgres.ts')],
          'steadfetch/server/redis': [join(root, 'src/server/redis.ts')],
          'steadfetch/telemetry': [join(root, 'src/telemetry.ts')],
          'steadfetch/ui': [join(root, 'src/ui.ts')],
          'steadfetch/testing': [join(root, 'src/testing.ts')],
        },
      },
      files: samples.map(({ name }) => join(folder, name)),
      include: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
    return '';
  } catch (failure) {
    return (failure as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
