import { existsSync, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Where Debian, Homebrew and the installers of macOS keep the programs of PostgreSQL. */
const postgresRoots = ['/usr/lib/postgresql', '/opt/homebrew/opt', '/Library/PostgreSQL'];

const inPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => existsSync(path));

/** The path that a variable of the environment chooses. */
function chosenBy(variable: string): string | undefined {
  const chosen = process.env[variable];
  if (chosen === undefined || chosen === '') return undefined;
  if (!existsSync(chosen)) throw new Error(`${variable} is ${chosen}, which does not exist.`);
  return chosen;
}

/** The folder with `postgres` and `initdb`: `POSTGRES_BIN`, else a usual place, newest first. */
export function findPostgres(): string | undefined {
  const usual = postgresRoots
    .filter((root) => existsSync(root))
    .flatMap((root) => readdirSync(root).map((version) => join(root, version, 'bin')))
    .toSorted()
    .toReversed();
  const known = [inPath('initdb') ?? ''].filter(Boolean).map((path) => dirname(path));
  return (
    chosenBy('POSTGRES_BIN') ??
    [...usual, ...known].find((folder) =>
      ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
    )
  );
}

/** The path of `redis-server`: `REDIS_PATH`, else where the PATH has one. */
export const findRedis = (): string | undefined => chosenBy('REDIS_PATH') ?? inPath('redis-server');
